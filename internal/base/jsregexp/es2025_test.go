package jsregexp_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/jsregexp"
)

// These forms came with ECMAScript 2025. The node of the recorded answers does not know them.
func TestFormsOf2025MatchAsTheStandardSays(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, c := range []struct {
		pattern  string
		yes, not []string
	}{
		{`^(?:(?<y>\d{4})-\d|\d-(?<y>\d{4}))$`, []string{"2025-1", "1-2025"}, []string{"2025-2025"}},
		{`^(?:(?<a>x)|(?<a>y))\k<a>$`, []string{"xx", "yy"}, []string{"xy", "yx", "x"}},
		{`^(?:(?:(?<a>x)|(?<a>y)|z)\k<a>){2}$`, []string{"xxyy", "xxz", "zz"}, []string{"xxyx", "zx"}},
		{`^(?:(?:b|(?<a>x))|(?<a>y)(?:c|d)|[|(](?:(?<a>z)))$`, []string{"x", "b", "yc", "|z", "(z"}, []string{"xy", "z"}},
		{`^(?i:a)b$`, []string{"ab", "Ab"}, []string{"aB", "AB"}},
		{`^(?i:a(?-i:b))$`, []string{"ab", "Ab"}, []string{"aB"}},
		{`^(?s:.).$`, []string{"\na"}, []string{"a\n"}},
		{`(?m:^b$)`, []string{"b", "a\nb\nc"}, []string{"ab"}},
		{`^(?s-m:.)$`, []string{"\n", "a"}, []string{"", "ab"}},
		{`^(?ims:É[à-ü])$`, []string{"éÀ", "Éà"}, []string{"e"}},
		{`^(?-ims:a)$`, []string{"a"}, []string{"A"}},
	} {
		for _, text := range c.yes {
			if got, err := test(t, e, c.pattern, text); !got || err != nil {
				t.Errorf("Test(%q, %q) = %t, %v, want true", c.pattern, text, got, err)
			}
		}
		for _, text := range c.not {
			if got, err := test(t, e, c.pattern, text); got || err != nil {
				t.Errorf("Test(%q, %q) = %t, %v, want false", c.pattern, text, got, err)
			}
		}
	}
}

func TestWrongFormsOf2025AreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, pattern := range []string{
		`(?<a>x)(?<a>y)`, `(?<a>(?<a>x))`, `(?:(?<a>x)|y)(?<a>z)`, `(?<=(?<a>x))(?<a>y)`,
		`(?<a>z)(?:y|(?<\u0061>x))`, `(?:(?<a>x)|y)(?:(?<a>x)|y)`, `(?<a>x)|(?<b>(?<a>y)|z)\k<a>(?<a>w)`, `(?i-i:a)`, `(?ii:a)`, `(?-ii:a)`, `(?-:a)`,
		`(?i)a`, `(?u:a)`, `(?g:a)`, `(?i:a`, `(?i-:a`, `(?--i:a)`, `(?I:a)`, `(?i`,
	} {
		var refusal *jsregexp.SyntaxError
		if err := compile(t, e, pattern); !errors.As(err, &refusal) || refusal.Message == "" {
			t.Errorf("Compile(%q) = %v, want a SyntaxError", pattern, err)
		}
		if _, err := test(t, e, pattern, "a"); !errors.As(err, &refusal) {
			t.Errorf("Test(%q) = %v, want a SyntaxError", pattern, err)
		}
	}
}

func TestWarningsNameWhatMayNotWorkElsewhere(t *testing.T) {
	t.Parallel()
	e := engine(t, 1)
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{`^[a-z]+$`, nil},
		{`(`, nil},
		{`(?<a>x)|(?<b>x)`, nil},
		{`[(?i:]\(?i:x`, nil},
		{`\-`, []string{"u flag would refuse it: invalid escape sequence in regular expression"}},
		{`(?<a>x)|(?<a>y)|(?<a>z)`, []string{"needs a browser of 2025 or later: more than one group has the name a"}},
		{`(?<ab>x)|(?<\u{61}\u0062>y)`, []string{"needs a browser of 2025 or later: more than one group has the name ab"}},
		{`(?<\ud835\udc9c>x)|(?<\u{1d49c}>y)|(?<𝒜>z)`, []string{"needs a browser of 2025 or later: more than one group has the name 𝒜"}},
		{`(?i:x)(?s-i:y)`, []string{"needs a browser of 2025 or later: flags for a part of the pattern, (?i:"}},
		{`(?-i:\_)(?<a>)|(?<a>)`, []string{
			"needs a browser of 2025 or later: flags for a part of the pattern, (?-i:",
			"needs a browser of 2025 or later: more than one group has the name a",
			"u flag would refuse it: invalid escape sequence in regular expression",
		}},
	} {
		got, err := e.Warnings(t.Context(), c.pattern)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("Warnings(%q): %v\n%s", c.pattern, err, diff)
		}
	}
}
