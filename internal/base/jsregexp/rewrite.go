package jsregexp

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// rewrite returns a pattern that the virtual machine reads as browsers read the given one, or a *SyntaxError
// if browsers refuse the pattern and the machine would not. The machine differs in four legacy forms:
//   - a brace that begins no quantifier, as in a{2,1x
//   - a dash that is a member of a class, as in [\d--_]
//   - a character of two UTF-16 code units next to a dash, as in [\w-😀-😂]
//   - \k in a class, which browsers refuse in a pattern with named groups
func rewrite(pattern string) (string, error) {
	if !strings.ContainsAny(pattern, "{[") {
		return pattern, nil
	}
	var b strings.Builder
	named := hasNamedGroups(pattern)
	for t := range tokens(pattern) {
		switch {
		case t.kind == class && named && hasAtom(t.text, `\k`):
			return "", &SyntaxError{Message: `\k in a class, in a pattern with named groups`}
		case t.kind == class:
			rewriteClass(&b, splitSurrogates(t.text))
		case t.kind == brace && t.text == "{":
			b.WriteString(`\{`)
		default:
			b.WriteString(t.text)
		}
	}
	return b.String(), nil
}

// rewriteClass writes a class with \- for every dash that is a member or an end of a range, so that the only
// dashes without a backslash are those between the ends of a range.
func rewriteClass(b *strings.Builder, text string) {
	opening := "["
	if strings.HasPrefix(text, "[^") {
		opening = "[^"
	}
	b.WriteString(opening)
	for rest := text[len(opening):]; rest != ""; {
		from := rest[:atomLength(rest)]
		rest = rest[len(from):]
		b.WriteString(escapeDash(from))
		if !strings.HasPrefix(rest, "-") || rest == "-" || rest == "-]" {
			continue
		}
		to := rest[1:][:atomLength(rest[1:])]
		rest = rest[1+len(to):]
		b.WriteString("-" + escapeDash(to))
	}
}

// splitSurrogates returns a class with each character beyond U+FFFF as its two UTF-16 code units, which are two
// members of the class to a browser.
func splitSurrogates(class string) string {
	var b strings.Builder
	for rest := class; rest != ""; {
		atom := rest[:atomLength(rest)]
		rest = rest[len(atom):]
		if r, _ := utf8.DecodeLastRuneInString(atom); r > 0xFFFF {
			high, low := utf16.EncodeRune(r)
			atom = fmt.Sprintf(`\u%04x\u%04x`, high, low)
		}
		b.WriteString(atom)
	}
	return b.String()
}

func escapeDash(atom string) string {
	if atom == "-" {
		return `\-`
	}
	return atom
}

func hasAtom(class, atom string) bool {
	for rest := class; rest != ""; rest = rest[atomLength(rest):] {
		if rest[:atomLength(rest)] == atom {
			return true
		}
	}
	return false
}
