// Package secret recognizes what looks like a secret, by the name of a value and by the form of a text. It is the one
// rule for what comparisons mask, what messages do not repeat and what logs leave out.
package secret

import (
	"slices"
	"strings"
	"unicode"
)

// A name is that of a secret if one of words is a word of it, or if it contains one of parts when its words are joined.
var (
	words = []string{"auth", "oauth", "dsn", "bearer"}
	parts = []string{
		"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey",
		"credential", "connectionstring", "authorization",
	}
)

// maxName is the longest name that is examined, in bytes. A longer one is taken for a secret's.
const maxName = 1000

// IsName reports whether a name is that of a secret, however it is spelled: API_KEY, api-key, apiKey.
func IsName(name string) bool {
	if len(name) > maxName {
		return true
	}
	split := wordsOf(name)
	return slices.ContainsFunc(split, func(w string) bool { return slices.Contains(words, w) }) || hasPart(split)
}

// IsNested reports whether an object's name and a member's are that of a secret together, as private and key are,
// although neither is one alone.
func IsNested(object, member string) bool {
	if len(object) > maxName || len(member) > maxName {
		return true
	}
	outer, inner := wordsOf(object), wordsOf(member)
	return len(outer) > 0 && len(inner) > 0 && slices.Contains(parts, outer[len(outer)-1]+inner[0])
}

// IsGroup reports whether everything in an object of a name is secret. A word such as auth is not enough for that: it
// also names objects with nothing secret in them.
func IsGroup(name string) bool { return len(name) > maxName || hasPart(wordsOf(name)) }

func hasPart(split []string) bool {
	joined := strings.Join(split, "")
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(joined, part) })
}

// wordsOf returns the words of a name in lower case. They are separated by anything but letters and digits, and where a
// capital follows a small letter.
func wordsOf(name string) []string {
	var spaced strings.Builder
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		spaced.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// The members of an entry of an environment, {name, value}, and the one that refers to where the value is stored.
const (
	NameMember      = "name"
	ValueMember     = "value"
	ReferenceMember = "valueFrom"
)

// IsValue reports whether a text under a secret's name may be the secret. An empty text is none, and neither is a
// reference to where the secret is stored.
func IsValue(text string) bool { return text != "" && !strings.HasPrefix(text, "arn:") }
