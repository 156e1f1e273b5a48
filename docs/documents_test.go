package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests name files from the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// link is a link of a page to another file of the repository, or to a heading.
var link = regexp.MustCompile(`\]\(([^):]*?)(?:#([^)]*))?\)`)

// quoted is what a page quotes as it is, such as the text of a licence.
var quoted = regexp.MustCompile("(?ms)^```text\n.*?^```$")

// pages returns the documents by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"docs", "examples"} {
		err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
			if err == nil && path.Ext(file) == ".md" {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(file)] = quoted.ReplaceAllString(string(text), "")
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
		if err == nil && filepath.ToSlash(file) == "docs/benchmarks" { // figures, which the document of that name links
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && path.Ext(file) != ".go" && !strings.Contains(readme, "]("+filepath.ToSlash(file)+")") {
			t.Errorf("README.md does not link %s", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		if !strings.Contains(readme, "]("+file+")") {
			t.Errorf("README.md does not link %s", file)
		}
	}
}

var (
	named   = regexp.MustCompile(`\.?[\w-][\w.-]*(?:/[\w.-]+)+|\b\w+\.(?:go|md|json|yml|graphql)\b`)
	target  = regexp.MustCompile("`make ([a-z-]+)")
	aTest   = regexp.MustCompile(`\bTest[A-Z]\w+`)
	targets = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

func TestContributingNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	text := pages(t)["CONTRIBUTING.md"]
	paths := named.FindAllString(text, -1)
	if len(paths) < 60 {
		t.Errorf("it names only %d paths", len(paths))
	}
	modules, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		p = strings.TrimSuffix(p, "/...")
		isElsewhere := strings.HasPrefix(p, "bin/") || strings.Contains(string(modules), p+" v") // what is built, and modules
		if _, err := os.Stat(p); err != nil && !isElsewhere {
			t.Errorf("there is no %s", p)
		}
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range target.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(targets.FindAllStringSubmatch(string(makefile), -1), func(has []string) bool { return has[1] == found[1] }) {
			t.Errorf("there is no make %s", found[1])
		}
	}
	testsAreDeclared(t, text)
}

func TestEachRulingIsHeldByATest(t *testing.T) {
	t.Parallel()
	_, rulings, _ := strings.Cut(pages(t)["docs/decisions.md"], "\n|---|---|---|\n")
	seen := 0
	for row := range strings.Lines(rulings) {
		if aTest.FindString(row) == "" {
			t.Errorf("no test holds %s", row)
		}
		seen++
	}
	if seen < 40 {
		t.Errorf("only %d rulings", seen)
	}
	testsAreDeclared(t, rulings)
}

func TestEachDefenceIsShownByATest(t *testing.T) {
	t.Parallel()
	seen := 0
	for row := range strings.Lines(pages(t)["docs/security.md"]) {
		if cells := strings.Split(row, " | "); !strings.HasPrefix(row, "| ") || len(cells) < 3 || strings.HasPrefix(row, "| attack ") {
			continue
		}
		if aTest.FindString(row) == "" {
			t.Errorf("no test shows %s", row)
		}
		seen++
	}
	if seen < 20 {
		t.Errorf("only %d defences", seen)
	}
	testsAreDeclared(t, pages(t)["docs/security.md"])
}

// testsAreDeclared wants every test to be there that a text names.
func testsAreDeclared(t *testing.T, text string) {
	t.Helper()
	declared := testsDeclared(t)
	for _, name := range aTest.FindAllString(text, -1) {
		if !declared[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

var declaration = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsDeclared returns the names of the tests of the module.
func testsDeclared(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, root := range []string{"cmd", "deploy", "docs", "graph", "internal", "rest"} {
		err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, "_test.go") {
				return err
			}
			code, err := os.ReadFile(file)
			for _, found := range declaration.FindAllStringSubmatch(string(code), -1) {
				all[found[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
