package wordtest

import (
	"regexp"
	"strings"
)

var (
	fenced  = regexp.MustCompile("(?ms)^[ \t]*```.*?\n[ \t]*```[ \t]*$")
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	linked  = regexp.MustCompile(`\]\([^) ]*\)`)
	// itself is what begins a block of its own: an item of a list, a heading, a quotation.
	itself = regexp.MustCompile(`(?m)^[ \t]*(?:[-*>]|#+|\d+\.) `)
	rule   = regexp.MustCompile(`(?m)^\|[-|: ]+\|$`)
	row    = regexp.MustCompile(`(?m)^\|.*\|$`)
	pipe   = regexp.MustCompile(`(?:^|[^\\])\|`)
)

// Prose returns the text of a page of Markdown, without its code blocks and where its links lead. Each item of a list
// and each cell of a table is a paragraph of its own.
func Prose(page string) string {
	for _, none := range []*regexp.Regexp{fenced, comment, rule} {
		page = none.ReplaceAllString(page, "\n")
	}
	page = row.ReplaceAllStringFunc(page, func(cells string) string { return pipe.ReplaceAllString(cells, "\n\n") })
	page = itself.ReplaceAllString(page, "\n\n")
	return linked.ReplaceAllString(page, "]")
}

// Quoted returns what a page has between backquotes outside its code blocks, in the order of the page.
func Quoted(page string) (all []string) {
	for _, found := range code.FindAllString(fenced.ReplaceAllString(page, "\n"), -1) {
		all = append(all, strings.Join(strings.Fields(strings.Trim(found, "`")), " "))
	}
	return all
}
