// Command licences writes docs/licences.md: whose work is in what is shipped, and under which licence.
//
//	licences FILE
//
// It fails if a licence is not one of those that allow what is done here, which is to ship the programs.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(file string) error {
	list, err := components(".")
	if err != nil {
		return err
	}

	var page strings.Builder
	page.WriteString(head)
	var texts []text
	for _, c := range list {
		found, err := c.licence()
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.name, c.version, err)
		}
		page.WriteString(c.row(strings.Join(found.ids, " and ")))
		texts = gather(texts, c, found.texts)
	}

	page.WriteString("\n## The texts\n")
	for _, t := range texts {
		fmt.Fprintf(&page, "\n### %s\n\n```text\n%s\n```\n", strings.Join(t.of, ", "), t.text)
	}

	return os.WriteFile(file, []byte(page.String()), 0o644) //nolint:gosec // a document of the tree
}

const head = "# Licences of what is shipped\n\n" +
	"Written by `make licences`. All of it may be used, changed and passed on, also in products that are sold. " +
	"Its authors' notices\nand the texts below have to go with it: each archive and package has this file. " +
	"What is under MPL-2.0 is in the programs as its authors publish\nit; who changes one of its files and passes " +
	"that on has to publish the change. None of this is a licence of Slipway itself.\n" + `
| what | version | in | licence |
|---|---|---|---|
`

// text is a licence's text and what it is of.
type text struct {
	text string
	of   []string
}

// gather adds the texts of a component. What has the same text stands together.
func gather(all []text, c component, texts []string) []text {
	for _, t := range texts {
		at := slices.IndexFunc(all, func(other text) bool { return other.text == t })
		if at < 0 {
			at = len(all)
			all = append(all, text{text: t})
		}
		if !slices.Contains(all[at].of, c.name) {
			all[at].of = append(all[at].of, c.name)
		}
	}
	return all
}
