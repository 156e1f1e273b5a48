package jsregexp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/jsregexp"
)

// hang takes any matcher that backtracks far longer than anyone waits.
const hang = `^(?=(a+)+$)a`

var hung = strings.Repeat("a", 60) + "b"

func TestPatternsThatWouldHangAreStopped(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, c := range []struct{ pattern, text string }{
		{hang, hung},
		{`^(a+)+$`, hung},
		{`^(?:a|a)*$`, hung},
		{`^(\w+\s?)*$`, strings.Repeat("word ", 20) + "!"},
		{`(.*)*x(?<=(.*)*y)`, strings.Repeat("x", 60)},
		{`(?:(?:a?){65000}){65000}b`, hung},
		{`(?:){2147483647}b`, "a"},
		{strings.Repeat("(?:", 200) + "a" + strings.Repeat("){2}", 200), strings.Repeat("a", 10_000)},
		{`^(?:(a)|(b)|(c)|(d))*$`, strings.Repeat("abcd", 200_000)},
		{`a*a*a*b`, strings.Repeat("a", 10_000)},
	} {
		var err error
		spent := cpu(t, func() { _, err = test(t, e, c.pattern, c.text) })
		if !errors.Is(err, jsregexp.ErrTooSlow) || spent > mostCPU {
			t.Errorf("Test(%.40q) = %v after %v of CPU, want ErrTooSlow", c.pattern, err, spent)
		}
		if ok, err := test(t, e, `^a+$`, "aaa"); !ok || err != nil {
			t.Errorf("after %.40q: Test = %t, %v, want a sound engine", c.pattern, ok, err)
		}
	}
}

func TestPatternsThatWouldTakeLongToReadAreRefused(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	var letters strings.Builder
	for r := 'Ā'; r < 'Ā'+2500; r++ {
		letters.WriteRune(r)
	}
	for name, pattern := range map[string]string{
		"long":       strings.Repeat("a", 17_000),
		"class":      "[" + letters.String() + "]",
		"references": strings.Repeat(`\k<a>`, 1_000) + strings.Repeat("x", 10_000) + "(?<a>a)",
	} {
		var err error
		spent := cpu(t, func() { err = compile(t, e, pattern) })
		if !errors.Is(err, jsregexp.ErrTooSlow) || spent > mostCPU {
			t.Errorf("%s: Compile = %v after %v of CPU, want ErrTooSlow", name, err, spent)
		}
	}
}

func TestDeepAndHugePatternsGetAnAnswer(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	text := strings.Repeat("ab", 5_000)
	nested := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for name, c := range map[string]struct {
		pattern string
		matches bool
	}{
		"groups":         {nested("(", "a", ")", 250), true},
		"plain groups":   {nested("(?:", "a", ")", 1_000), true},
		"lookaheads":     {nested("(?=", "a", ")", 1_000), true},
		"lookbehinds":    {nested("(?<=", "a", ")", 1_000), true},
		"huge counts":    {"^(?:ab){0,2147483648}$", true},
		"overlong count": {"a{" + strings.Repeat("9", 1_000) + "}", false},
		"alternatives":   {strings.Repeat("x|", 500) + "a", true},
		"characters":     {strings.Repeat("ab", 500), true},
		"classes":        {strings.Repeat("[ab][^x]", 125), true},
	} {
		var got bool
		var err error
		spent := cpu(t, func() { got, err = test(t, e, c.pattern, text) })
		if got != c.matches || err != nil || spent > mostCPU {
			t.Errorf("%s: Test = %t, %v after %v of CPU, want %t", name, got, err, spent, c.matches)
		}
	}
	for _, pattern := range []string{strings.Repeat("(", 15_000), strings.Repeat("(?=", 5_000), nested("(?:", "", ")*", 3_000)} {
		var err error
		spent := cpu(t, func() { err = compile(t, e, pattern) })
		var refusal *jsregexp.SyntaxError
		if !errors.As(err, &refusal) || spent > mostCPU {
			t.Errorf("Compile(%.40q) = %v after %v of CPU, want a SyntaxError", pattern, err, spent)
		}
	}
}

func TestAPatternHasAsManyGroupsAsAMachineTakes(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for pattern, want := range map[string]error{
		strings.Repeat("(a)", jsregexp.MaxGroups):                                               nil,
		strings.Repeat("(a)", jsregexp.MaxGroups+1):                                             jsregexp.ErrTooManyGroups,
		strings.Repeat("()", jsregexp.MaxGroups):                                                nil,
		strings.Repeat("()", jsregexp.MaxGroups+1):                                              jsregexp.ErrTooManyGroups,
		strings.Repeat("(", jsregexp.MaxGroups) + "a" + strings.Repeat(")", jsregexp.MaxGroups): nil,
		strings.Repeat("(", jsregexp.MaxGroups+1) + strings.Repeat(")", jsregexp.MaxGroups+1):   jsregexp.ErrTooManyGroups,
		"(?<n>a)" + strings.Repeat("(a)", jsregexp.MaxGroups):                                   jsregexp.ErrTooManyGroups,
		"(?<n>a)" + strings.Repeat("(a)", jsregexp.MaxGroups-1):                                 nil,
		"[(]\\(" + strings.Repeat("(?:a)(?=a)(?i:a)(?<!b)", 300) + "(a)":                        nil,
	} {
		if err := compile(t, e, pattern); !errors.Is(err, want) {
			t.Errorf("%.60s… of %d bytes: %v, want %v", pattern, len(pattern), err, want)
		}
	}
}

func TestAMatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, _, err := e.Test(ctx, hang, hung, jsregexp.MaxSteps); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Test = %v, want context.DeadlineExceeded", err)
	}
	if _, err := e.Compile(ctx, "a", jsregexp.MaxSteps); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Compile = %v, want context.DeadlineExceeded", err)
	}
}
