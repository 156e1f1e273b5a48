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

// kind tells the pieces of a pattern apart, as far as anyone here has to.
type kind int

const (
	// plain is a piece that stands for itself: a letter, an escape, an assertion, a bracket.
	plain kind = iota
	// class is everything from [ to ].
	class
	// brace is a { outside a class, and through its } if it is a quantifier, as in {2} and {2,} and {2,3}.
	brace
	// name is (?<…>, the opening of a named group.
	name
	// reference is \k<…>, in a pattern that has named groups.
	reference
	// modifier is the opening of a group with flags of its own, such as (?i-s:.
	modifier
)

// piece is a part of a pattern. The pieces of a pattern make up all of its text.
type piece struct {
	kind kind
	text string
}

// pieces cuts a pattern up as a browser does that has no u flag. Any text can be cut, also no pattern.
func pieces(pattern string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		named := hasNames(pattern)
		for rest := pattern; rest != ""; {
			p := first(rest, named)
			if !yield(p) {
				return
			}
			rest = rest[len(p.text):]
		}
	}
}

// first is the piece that rest begins with. In a pattern that has named groups, \k< begins a reference.
func first(rest string, named bool) piece {
	switch {
	case rest[0] == '[':
		return piece{class, rest[:classLength(rest)]}
	case rest[0] == '{':
		return piece{brace, cmp.Or(quantifier.FindString(rest), rest[:1])}
	case opensName(rest):
		return piece{name, through(rest, '>')}
	case rest[0] == '(':
		if n := modifierLength(rest); n > 0 {
			return piece{modifier, rest[:n]}
		}
	case named && strings.HasPrefix(rest, `\k<`):
		return piece{reference, through(rest, '>')}
	}
	return piece{plain, rest[:atomLength(rest)]}
}

func opensName(rest string) bool {
	after, ok := strings.CutPrefix(rest, "(?<")
	return ok && !strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "!")
}

func hasNames(pattern string) bool {
	if !strings.Contains(pattern, "(?<") {
		return false
	}
	for rest := pattern; rest != ""; {
		p := first(rest, false)
		if p.kind == name {
			return true
		}
		rest = rest[len(p.text):]
	}
	return false
}

// through is rest up to and with end; where there is none, its first character.
func through(rest string, end byte) string {
	return rest[:max(strings.IndexByte(rest, end)+1, 1)]
}

// modifierLength is the length of an opening such as (?i-s: and 0 for another.
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

func classLength(rest string) int {
	n := len("[")
	for n < len(rest) && rest[n] != ']' {
		n += atomLength(rest[n:])
	}
	return min(n+len("]"), len(rest))
}

// atomLength is the length of the character or the escape that rest begins with.
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
