package jsregexp

import (
	"cmp"
	"iter"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	quantifier = regexp.MustCompile(`^\{[0-9]+(?:,[0-9]*)?\}`)
	// longEscape is an escape of more than two characters.
	longEscape = regexp.MustCompile(`^\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|c[0-9A-Za-z_]|[0-3][0-7]{1,2}|[4-7][0-7])`)
)

// tokenKind is the kind of a token, as far as this package needs to distinguish them.
type tokenKind int

const (
	// other is a letter, an escape, an assertion or a parenthesis.
	other tokenKind = iota
	// class is a character class, from [ to ].
	class
	// brace is a { outside a class; the whole quantifier if it begins one, as in {2} and {2,} and {2,3}.
	brace
	// groupOpening is the opening of a named group, (?<…>.
	groupOpening
	// reference is \k<…>, in a pattern that has named groups.
	reference
	// modifier is the opening of a group with flags of its own, such as (?i-s:.
	modifier
)

// token is a part of a pattern. The texts of its tokens, one after the other, are the pattern.
type token struct {
	kind tokenKind
	text string
}

// tokens returns the tokens of a pattern, as a browser reads it without the u flag. Any text has tokens, also
// one that is not a valid pattern.
func tokens(pattern string) iter.Seq[token] {
	return func(yield func(token) bool) {
		named := hasNamedGroups(pattern)
		for rest := pattern; rest != ""; {
			t := firstToken(rest, named)
			if !yield(t) {
				return
			}
			rest = rest[len(t.text):]
		}
	}
}

// firstToken returns the token that rest begins with. In a pattern that has named groups, \k< begins a reference.
func firstToken(rest string, named bool) token {
	switch {
	case rest[0] == '[':
		return token{class, rest[:classLength(rest)]}
	case rest[0] == '{':
		return token{brace, cmp.Or(quantifier.FindString(rest), rest[:1])}
	case opensNamedGroup(rest):
		return token{groupOpening, through(rest, '>')}
	case rest[0] == '(':
		if n := modifierLength(rest); n > 0 {
			return token{modifier, rest[:n]}
		}
	case named && strings.HasPrefix(rest, `\k<`):
		return token{reference, through(rest, '>')}
	}
	return token{other, rest[:atomLength(rest)]}
}

func opensNamedGroup(rest string) bool {
	after, ok := strings.CutPrefix(rest, "(?<")
	return ok && !strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "!")
}

func hasNamedGroups(pattern string) bool {
	if !strings.Contains(pattern, "(?<") {
		return false
	}
	for rest := pattern; rest != ""; {
		t := firstToken(rest, false)
		if t.kind == groupOpening {
			return true
		}
		rest = rest[len(t.text):]
	}
	return false
}

// through returns rest up to and including end, or its first character if it has no end.
func through(rest string, end byte) string {
	return rest[:max(strings.IndexByte(rest, end)+1, 1)]
}

// modifierLength returns the length of the opening of a group with flags, such as (?i-s:, and 0 if rest begins
// with anything else.
func modifierLength(rest string) int {
	flags, ok := strings.CutPrefix(rest, "(?")
	if !ok {
		return 0
	}
	n := strings.IndexFunc(flags, func(r rune) bool { return !strings.ContainsRune("ims-", r) })
	if n < 1 || flags[n] != ':' {
		return 0
	}
	return len("(?") + n + len(":")
}

// classLength returns the length of the class that rest begins with.
func classLength(rest string) int {
	n := len("[")
	for n < len(rest) && rest[n] != ']' {
		n += atomLength(rest[n:])
	}
	return min(n+len("]"), len(rest))
}

// atomLength returns the length of the character or the escape that rest begins with.
func atomLength(rest string) int {
	if long := longEscape.FindString(rest); long != "" {
		return len(long)
	}
	n := 0
	if rest[0] == '\\' && len(rest) > 1 && rest[1] != 'c' {
		n = 1
	}
	_, size := utf8.DecodeRuneInString(rest[n:])
	return n + size
}
