// Package secret tells what looks like a secret: by the name that a value has, and by the form of a text. It is
// the one rule for what comparisons mask, what messages do not repeat and what logs leave out.
package secret

import (
	"slices"
	"strings"
	"unicode"
)

// What a name says of its value: a word of it, or a part of it written together.
var (
	words = []string{"auth", "oauth", "dsn"}
	parts = []string{
		"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey",
		"credential", "connectionstring", "authorization",
	}
)

// maxName is how long a name may be, in bytes, to be read. A longer one is taken for a secret's.
const maxName = 1000

// IsName reports whether a name is that of a secret, however it is spelled: API_KEY, api-key, apiKey.
func IsName(name string) bool {
	if len(name) > maxName {
		return true
	}
	split := wordsOf(name)
	return slices.ContainsFunc(split, func(w string) bool { return slices.Contains(words, w) }) || hasPart(split)
}

// IsGroup reports whether everything below an object of a name is secret, wherever it stands. A word such as auth
// is too little for that: it is also the name of what is not secret at all.
func IsGroup(name string) bool { return len(name) > maxName || hasPart(wordsOf(name)) }

func hasPart(split []string) bool {
	together := strings.Join(split, "")
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(together, part) })
}

// wordsOf splits a name, in lower case, where it has something else than letters and digits and where a
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

// The members of an entry {name, value}, as of an environment, and the one that says where a value is kept.
const (
	NameMember      = "name"
	ValueMember     = "value"
	ReferenceMember = "valueFrom"
)

// IsValue reports whether a text under a secret's name may be the secret: what is empty is none, nor is a
// reference to where the secret is kept.
func IsValue(text string) bool { return text != "" && !strings.HasPrefix(text, "arn:") }
