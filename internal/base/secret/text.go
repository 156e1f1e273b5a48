package secret

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Redacted replaces a secret.
const Redacted = "[redacted]"

// finder finds secrets of a form.
type finder struct {
	// marks are what a text has one of where there is a secret in it. To look for these first is quicker.
	marks []string
	// next returns where the first secret in a text after an index is; start is -1 if there is none.
	next func(text string, from int) (start, end int)
}

// find does what next does.
func (f finder) find(text string, from int) (start, end int) {
	for _, mark := range f.marks {
		if strings.Contains(text[from:], mark) {
			return f.next(text, from)
		}
	}
	return -1, -1
}

var finders = []finder{
	{[]string{"="}, assigned},
	{[]string{option}, optionValue},
	// A URL with a password.
	matching(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s/]+)@`, "://"),
	matching(`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?s:.*))`, "-----BEGIN"),
	// Keys of AWS, tokens of GitHub, of Slipway, and JSON Web Tokens.
	matching(`\b((?:AKIA|ASIA)[A-Z0-9]{16})\b`, "AKIA", "ASIA"),
	matching(`\b((?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,})`, "gh", "github_pat_"),
	matching(`\b(?:[Bb]earer|BEARER) (?:slp_)?([A-Za-z0-9._~+/-]{16,}=*)`, "earer ", "EARER "),
	matching(`slp_([a-z]+_[0-9A-Za-z]{8,})`, "slp_"),
	matching(`\b(eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)`, "eyJ"),
}

// IsSuspect reports whether a text may be a secret or have one in it. If it may not, IsText need not be asked, nor of
// any part of it.
func IsSuspect(text []byte) bool {
	for _, f := range finders {
		for _, mark := range f.marks {
			if bytes.Contains(text, []byte(mark)) {
				return true
			}
		}
	}
	return false
}

// IsText reports whether a text is a secret or has one in it, by its form: a URL with a password, a private key, a
// token, or NAME=value and --name value with the name of a secret.
func IsText(text string) bool {
	return slices.ContainsFunc(finders, func(f finder) bool {
		start, _ := f.find(text, 0)
		return start >= 0
	})
}

// Find returns the secrets that IsText would find in a text, without quotes around them.
func Find(text string) []string {
	var found []string
	for _, f := range finders {
		for start, end := f.find(text, 0); start >= 0; start, end = f.find(text, end) {
			found = append(found, strings.Trim(text[start:end], `"'`))
		}
	}
	return found
}

// Redact returns the text with Redacted in the place of each secret that IsText would find.
func Redact(text string) string {
	for _, f := range finders {
		text = f.redact(text)
	}
	return text
}

func (f finder) redact(text string) string {
	var b strings.Builder
	done := 0
	for {
		start, end := f.find(text, done)
		if start < 0 {
			break
		}
		b.WriteString(text[done:start])
		b.WriteString(Redacted)
		done = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// matching returns a finder of what the first group of a pattern matches.
func matching(pattern string, marks ...string) finder {
	compiled := regexp.MustCompile(pattern)
	return finder{marks, func(text string, from int) (start, end int) {
		m := compiled.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return -1, -1
		}
		return from + m[2], from + m[3]
	}}
}

// assigned finds the value of NAME=value, as in an environment, a command line, a query or a connection string.
func assigned(text string, from int) (start, end int) {
	for at := from; ; at++ {
		next := strings.IndexByte(text[at:], '=')
		if next < 0 {
			return -1, -1
		}
		at += next
		before := strings.TrimRight(text[from:at], " ")
		name := before[1+strings.LastIndexFunc(before, func(r rune) bool { return !isNameRune(r) }):]
		if name == "" || !IsName(name) {
			continue
		}
		value := strings.TrimLeft(text[at+1:], " ")
		start = len(text) - len(value)
		if end = start + valueLength(value); isExposed(text[start:end]) {
			return start, end
		}
	}
}

// optionValue finds the value of --name value in a command line.
func optionValue(text string, from int) (start, end int) {
	for at := from; ; {
		next := strings.Index(text[at:], option)
		if next < 0 {
			return -1, -1
		}

		begun := at + next
		name := text[begun+len(option):]
		if i := strings.IndexFunc(name, func(r rune) bool { return !isNameRune(r) }); i >= 0 {
			name = name[:i]
		}

		at = begun + len(option) + len(name)
		if begun > 0 && !strings.ContainsRune(space, rune(text[begun-1])) || !IsName(name) {
			continue
		}

		value := strings.TrimLeft(text[at:], space)
		start = len(text) - len(value)
		end = start + valueLength(value)
		if start > at && !strings.HasPrefix(value, "-") && isExposed(text[start:end]) {
			return start, end
		}
	}
}

const (
	option = "--"
	space  = " \t\r\n"
)

// isNameRune reports whether a character may be in a name.
func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}

// valueLength returns the length of the value that a text begins with: up to and including its closing quote if it has
// one, else up to a space or a separator.
func valueLength(text string) int {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		if closing := strings.IndexByte(text[1:], text[0]); closing >= 0 {
			return closing + 2
		}
	}
	if i := strings.IndexAny(text, space+";&"); i >= 0 {
		return i
	}
	return len(text)
}

// isExposed reports whether a value is a secret that has not been redacted.
func isExposed(value string) bool { return IsValue(value) && value != Redacted }

// IsOption reports whether an argument of a command is --name with the name of a secret. The next argument is then the
// secret.
func IsOption(argument string) bool {
	name, ok := strings.CutPrefix(argument, option)
	return ok && !strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }) && IsName(name)
}
