package release

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// What a name says of its value: a word of it, or a part of it written together.
var (
	secretWords = []string{"auth", "oauth", "dsn"}
	secretParts = []string{
		"password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey",
		"credential", "connectionstring", "authorization",
	}
)

// secretForm is a text that is a secret, or holds one, whatever its name. None is without one of its marks,
// which are soon looked for.
type secretForm struct {
	marks []string
	form  *regexp.Regexp
}

var secretForms = []secretForm{
	// A URL with a password.
	{[]string{"://"}, regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:[^\s/]+@`)},
	// A password in a connection string or on a command line.
	{[]string{"="}, regexp.MustCompile(`(?i)\b(password|passwd|pwd)\s*=\s*[^\s;&]`)},
	{[]string{"-----BEGIN"}, regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY`)},
	// Keys of AWS, tokens of GitHub, of Slipway, and JSON Web Tokens.
	{[]string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{[]string{"gh", "github_pat_"}, regexp.MustCompile(`\b(gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`)},
	{[]string{"slp_"}, regexp.MustCompile(`\bslp_[a-z]+_[A-Za-z0-9]{20,}`)},
	{[]string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)},
}

// in reports whether a text has the form.
func (f secretForm) in(text string) bool {
	return slices.ContainsFunc(f.marks, func(mark string) bool { return strings.Contains(text, mark) }) && f.form.MatchString(text)
}

// hides says whether a leaf is to be masked: for its name, or for what either of its values looks like.
func (p *place) hides(values ...any) bool {
	if slices.ContainsFunc(values, looksSecret) {
		return true
	}
	return (p.secret || namesSecret(p.name)) && slices.ContainsFunc(values, mayBeSecret)
}

func looksSecret(value any) bool {
	text, isText := value.(string)
	return isText && slices.ContainsFunc(secretForms, func(f secretForm) bool { return f.in(text) })
}

// mayBeSecret says whether a value under a secret's name may be the secret: a switch is none, nor is a
// reference to where the secret is kept.
func mayBeSecret(value any) bool {
	switch v := value.(type) {
	case string:
		return v != "" && !strings.HasPrefix(v, "arn:")
	case json.Number:
		return true
	}
	return false
}

// entryNamesSecret says whether an entry, as of an environment, has the name of a secret.
func entryNamesSecret(entry map[string]any) bool {
	name, _ := entry["name"].(string)
	return namesSecret(name)
}

// namesSecret says whether a name is that of a secret, however it is spelled: API_KEY, api-key, apiKey.
func namesSecret(name string) bool {
	words := wordsOf(name)
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) }) {
		return true
	}
	together := strings.Join(words, "")
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(together, part) })
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
