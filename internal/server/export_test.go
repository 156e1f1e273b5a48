package server

// Recovered is the middleware that ends panics, CutStalled the one that ends stalled connections.
var (
	Recovered  = recovered
	CutStalled = cutStalled
)
