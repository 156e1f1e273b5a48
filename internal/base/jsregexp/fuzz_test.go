package jsregexp_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"slipway/internal/base/jsregexp"
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
		var refusal, errWarnings error
		spent := cpu(t, func() {
			refusal = compile(t, e, pattern)
			_, errWarnings = e.Warnings(t.Context(), pattern)
		})
		if spent > mostCPU {
			t.Errorf("Compile(%q) took %v of CPU", pattern, spent)
		}
		if errWarnings != nil && !errors.Is(errWarnings, jsregexp.ErrTooSlow) {
			t.Errorf("Warnings(%q) = %v", pattern, errWarnings)
		}
		first, taken, err := e.Test(t.Context(), pattern, text, jsregexp.MaxSteps)
		again, takenAgain, errAgain := e.Test(t.Context(), pattern, text, jsregexp.MaxSteps)
		if first != again || taken != takenAgain || (err == nil) != (errAgain == nil) {
			t.Errorf("%q on %q: %t in %d, %v, then %t in %d, %v", pattern, text, first, taken, err, again, takenAgain, errAgain)
		}
		if (err == nil) != (refusal == nil) && !errors.Is(err, jsregexp.ErrTooSlow) {
			t.Errorf("%q on %q: %v, then %v", pattern, text, refusal, err)
		}
	})
}

// FuzzSteps looks for patterns that take more CPU than their steps stand for, on texts that take long.
func FuzzSteps(f *testing.F) {
	for _, c := range unkind {
		f.Add(c.pattern, c.text[:min(len(c.text), 4)], uint16(len(c.text)))
	}
	y := yardstick{engine(f, 1)}
	f.Fuzz(func(t *testing.T, pattern, unit string, length uint16) {
		text := strings.Repeat(unit, int(length)%10_000/max(len(unit), 1))
		if times := y.slower(t, pattern, text); times > mostTimes {
			t.Errorf("%q on %d bytes of %q takes %.1f times as long as another of as many steps", pattern, len(text), unit, times)
		}
	})
}

// FuzzOracle looks for patterns that match otherwise than with QuickJS's own matcher.
func FuzzOracle(f *testing.F) {
	for i, tr := range trials(f) {
		if i%20 == 0 {
			f.Add(tr.Pattern, tr.Samples[0])
		}
	}
	e, o := engine(f, 1), newOracle(f)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if utf8.ValidString(pattern) && utf8.ValidString(text) && len(pattern) < 1_000 && len(text) < 100 {
			o.trial(t, e, pattern, text)
		}
	})
}
