// Package testkit has what the tests of several packages need and the standard library does not have: a
// clock that a test sets, a proxy that a test cuts, the program as a process of its own, a program that
// counts its signals, and waiting for what happens by itself. It knows nothing of Slipway but how its program is built
// and started.
package testkit
