// Package state has what every other package of deployments says of one: what started it, what its row is set to, the
// refusals of a status, and how the drift of its instance is known.
package state
