package document

import (
	"regexp"
	"strings"
)

// command is the beginning of what services that run pipelines take out of a program's output for a command to them:
// GitHub at the beginning of a line, and GitHub, Azure and TeamCity anywhere in one. So a text that somebody else has
// written could set variables of the job, or hide what follows.
var command = regexp.MustCompile(`(?im)^[^\S\n]*(::)|(##)(?:\[|vso\[|teamcity\[)`)

// IsCommand reports whether a text would be, or have, a command to a service that runs pipelines.
func IsCommand(text string) bool { return command.MatchString(text) }

// Disarm returns a text in which the first character of each such command is replaced by what escape returns for it.
func Disarm(text string, escape func(rune) string) string {
	if !IsCommand(text) {
		return text
	}
	var b strings.Builder
	from := 0
	for _, found := range command.FindAllStringSubmatchIndex(text, -1) {
		at := max(found[2], found[4]) // the one that is not there is -1
		b.WriteString(text[from:at] + escape(rune(text[at])))
		from = at + 1
	}
	b.WriteString(text[from:])
	return b.String()
}
