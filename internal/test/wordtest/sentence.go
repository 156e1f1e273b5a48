package wordtest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	code      = regexp.MustCompile("`[^`]*`")
	blankLine = regexp.MustCompile(`\n[ \t]*\n`)
	fullStop  = regexp.MustCompile(`[.!?]["')*_]* `)
)

// Sentences returns the sentences of a text. A blank line ends one.
func Sentences(text string) (all []string) {
	for _, paragraph := range blankLine.Split(text, -1) {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		begin := 0
		for _, stop := range fullStop.FindAllStringIndex(paragraph, -1) {
			if next, _ := utf8.DecodeRuneInString(paragraph[stop[1]:]); unicode.IsLower(next) {
				continue // as behind "e.g."
			}
			all = append(all, strings.TrimSpace(paragraph[begin:stop[1]]))
			begin = stop[1]
		}
		if rest := strings.TrimSpace(paragraph[begin:]); rest != "" {
			all = append(all, rest)
		}
	}
	return all
}
