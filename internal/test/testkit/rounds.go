package testkit

import "os"

// Proving reports whether tests run at full size, as the proof targets of the Makefile set it by SLIPWAY_PROOF=full.
// Otherwise they run at a size that is quick.
func Proving() bool { return os.Getenv("SLIPWAY_PROOF") == "full" }

// Often returns one of two sizes, such as the rounds of a race: quickly, or proving if tests run at full size.
func Often[T any](quickly, proving T) T {
	if Proving() {
		return proving
	}
	return quickly
}
