// Package remote is the wing of what runs elsewhere than the server and knows it by its API alone: the client, the
// commands for people, and the runner. It imports base and pure.
package remote
