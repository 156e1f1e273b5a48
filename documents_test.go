package slipway_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// link is a link of a page to another file of the repository, or to a heading.
var link = regexp.MustCompile(`\]\(([^):]*?)(?:#([^)]*))?\)`)

// pages returns the documents by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(file) == ".md" {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(file)] = string(text)
	}
	return all
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noLink  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors returns what the headings of a page are linked by.
func anchors(page string) (all []string) {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(noLink.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return all
}

func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	seen := 0
	for file, text := range all {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			to := path.Join(path.Dir(file), found[1])
			if found[1] == "" {
				to = file
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s leads nowhere", file, found[0])
			} else if found[2] != "" && !slices.Contains(anchors(all[to]), found[2]) {
				t.Errorf("%s: %s has no heading #%s", file, to, found[2])
			}
			seen++
		}
	}
	if seen < 20 {
		t.Errorf("only %d links", seen)
	}
}

func TestReadmeLinksEveryDocument(t *testing.T) {
	t.Parallel()
	readme := pages(t)["README.md"]
	err := filepath.WalkDir("docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(readme, "]("+filepath.ToSlash(file)+")") {
			t.Errorf("README.md does not link %s", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"SECURITY.md", "CHANGELOG.md"} {
		if !strings.Contains(readme, "]("+file+")") {
			t.Errorf("README.md does not link %s", file)
		}
	}
}
