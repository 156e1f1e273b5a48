package jsregexp

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// repaired writes a pattern so that the machine reads it as browsers do; a *SyntaxError if they refuse it
// and the machine would not. Four old forms it reads in another way: a brace that opens no quantifier,
// as in a{2,1x, a dash that is a member of a class, as in [\d--_], a character of two code units beside one,
// as in [\w-😀-😂], and \k in a class, which named groups forbid.
func repaired(pattern string) (string, error) {
	if !strings.ContainsAny(pattern, "{[") {
		return pattern, nil
	}
	var b strings.Builder
	named := hasNames(pattern)
	for p := range pieces(pattern) {
		switch {
		case p.kind == class && named && hasAtom(p.text, `\k`):
			return "", &SyntaxError{Message: `\k in a class, in a pattern with named groups`}
		case p.kind == class:
			repairClass(&b, halved(p.text))
		case p.kind == brace && p.text == "{":
			b.WriteString(`\{`)
		default:
			b.WriteString(p.text)
		}
	}
	return b.String(), nil
}

// repairClass writes a class with \- for every dash that is a member or an end of a range, so that the only
// bare dashes are those between two atoms.
func repairClass(b *strings.Builder, text string) {
	opening := "["
	if strings.HasPrefix(text, "[^") {
		opening = "[^"
	}
	b.WriteString(opening)
	for rest := text[len(opening):]; rest != ""; {
		from := rest[:atomLength(rest)]
		rest = rest[len(from):]
		b.WriteString(member(from))
		if !strings.HasPrefix(rest, "-") || rest == "-" || rest == "-]" {
			continue
		}
		to := rest[1:][:atomLength(rest[1:])]
		rest = rest[1+len(to):]
		b.WriteString("-" + member(to))
	}
}

// halved writes a class with each character beyond U+FFFF as the two members that it is to a browser.
func halved(class string) string {
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

func member(atom string) string {
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
