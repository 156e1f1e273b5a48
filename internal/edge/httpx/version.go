package httpx

// VersionHeader has the version of the server that refuses an operation, so that a program that asks for what the
// server does not know can say which of the two is too old.
const VersionHeader = "Slipway-Version"
