package testkit

import "os"

// Proving tells whether the tests are to prove what they say by as many rounds as it takes, as the targets of the
// Makefile do whose names begin with proof. Without it they take as many rounds as are quickly done.
func Proving() bool { return os.Getenv("SLIPWAY_PROOF") == "full" }

// Often picks one of two sizes, such as the rounds of a race: that of a quick test, or that of a proof.
func Often[T any](quickly, proving T) T {
	if Proving() {
		return proving
	}
	return quickly
}
