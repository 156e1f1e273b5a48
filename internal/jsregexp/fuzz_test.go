package jsregexp_test

import (
	"errors"
	"testing"

	"slipway/internal/jsregexp"
)

// FuzzTest looks for patterns that crash or outlast the engine, or for which two answers differ: Compile and
// Test must agree, and so must two runs of Test, of which the second finds the pattern in the cache.
func FuzzTest(f *testing.F) {
	for i, tr := range trials(f) {
		if i%20 == 0 {
			f.Add(tr.Pattern, tr.Samples[0])
		}
	}
	f.Add(hang, hung)
	e := engine(f, 1)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		var refusal, err, errAgain, errWarnings error
		var first, again bool
		spent := cpu(t, func() {
			refusal = e.Compile(t.Context(), pattern)
			first, err = e.Test(t.Context(), pattern, text)
			again, errAgain = e.Test(t.Context(), pattern, text)
			_, errWarnings = e.Warnings(t.Context(), pattern)
		})
		if spent > 4*mostCPU {
			t.Errorf("%q on %q took %v of CPU", pattern, text, spent)
		}
		if errWarnings != nil && !errors.Is(errWarnings, jsregexp.ErrTooSlow) {
			t.Errorf("Warnings(%q) = %v", pattern, errWarnings)
		}
		if errors.Is(err, jsregexp.ErrTooSlow) || errors.Is(errAgain, jsregexp.ErrTooSlow) {
			return
		}
		if first != again || (err == nil) != (errAgain == nil) || (err == nil) != (refusal == nil) {
			t.Errorf("%q on %q: %v, then %t, %v, then %t, %v", pattern, text, refusal, first, err, again, errAgain)
		}
	})
}
