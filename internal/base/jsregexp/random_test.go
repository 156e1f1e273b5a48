package jsregexp_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes patterns and texts at random, of few characters, so that they often match.
type generator struct{ *rand.Rand }

func (g generator) of(choices ...string) string { return choices[g.IntN(len(choices))] }

// pattern makes a pattern. Some are not valid.
func (g generator) pattern(depth int) string {
	var b strings.Builder
	for i := range 1 + g.IntN(4) {
		if i > 0 && g.IntN(5) == 0 {
			b.WriteString("|")
		}
		b.WriteString(g.term(depth))
	}
	return b.String()
}

func (g generator) term(depth int) string {
	if depth == 0 || g.IntN(3) > 0 {
		return g.atom() + g.quantifier()
	}
	inner := g.pattern(depth - 1)
	switch g.IntN(8) {
	case 0:
		return g.of("(?=", "(?!", "(?<=", "(?<!") + inner + ")"
	case 1:
		return g.of("(?=", "(?!") + inner + ")" + g.quantifier()
	case 2:
		return g.of("(?i:", "(?s:", "(?m:", "(?-i:", "(?im-s:") + inner + ")" + g.quantifier()
	case 3:
		return "(?<" + g.of("n", "m", "o") + ">" + inner + ")" + g.quantifier()
	case 4, 5:
		return "(?:" + inner + ")" + g.quantifier()
	default:
		return "(" + inner + ")" + g.quantifier()
	}
}

func (g generator) atom() string {
	switch g.IntN(4) {
	case 0:
		return g.of("a", "b", "B", "é", "É", "ß", "K", "ſ", "😀", "\n", " ", "0", "-", "Σ", "ς")
	case 1:
		return g.of(".", `\w`, `\W`, `\d`, `\D`, `\s`, `\S`, "[]", "[^]", `\b`, `\B`, "^", "$", "{", "]")
	case 2:
		return g.class()
	default:
		return g.of("a", "ab", `\1`, `\2`, `\3`, `\k<n>`, `\k<m>`, `\x41`, `\u00e9`, `\n`, `\0`, `\-`, `\cA`, "a")
	}
}

func (g generator) class() string {
	var b strings.Builder
	b.WriteString(g.of("[", "[^"))
	for range 1 + g.IntN(3) {
		b.WriteString(g.of("a", "b-z", "A-F", "é", "à-ü", "Ā-ſ", `\w`, `\W`, `\d`, `\s`, `\S`, "-", `\b`, "😀", "a-é", `\-`, "K", "Α-Ω"))
	}
	return b.String() + "]"
}

func (g generator) quantifier() string {
	if g.IntN(2) > 0 {
		return ""
	}
	count := g.of("*", "+", "?", "{2}", "{0}", "{1,2}", "{0,3}", "{2,}", fmt.Sprintf("{%d,%d}", g.IntN(3), 3+g.IntN(40)), "{1,65000}")
	return count + g.of("", "", "?")
}

func (g generator) text(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(g.of("a", "a", "b", "B", "A", "é", "É", "ß", "K", "ſ", "s", "k", "😀", "\n", "\u2028", " ", "\u00a0", "0", "-", "Σ", "ς", "σ", "\x00", "_"))
	}
	return b.String()
}

// uniform makes a text of one or two characters that come again and again, which takes matchers long.
func (g generator) uniform(n int) string {
	unit := g.of("a", "ab", "aB", "é", "Σ", "b", "0", "a ", "😀")
	return strings.Repeat(unit, n) + g.of("", "!", "\n", "b")
}
