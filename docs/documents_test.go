package docs_test

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

// root leads to the root of the repository, from which the tests name files. They do not change their folder, because go test
// would not see then which files a result is of.
const root = ".."

// read returns a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// walk calls f for each file below a folder of the repository.
func walk(t *testing.T, folder string, f func(file string)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, folder), func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			f(strings.TrimPrefix(filepath.ToSlash(file), root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isThere reports whether there is a file or a folder in the repository.
func isThere(file string) bool {
	_, err := os.Stat(filepath.Join(root, file))
	return err == nil
}

// link is a link of a page to another file of the repository, or to a heading.
var link = regexp.MustCompile(`\]\(([^):]*?)(?:#([^)]*))?\)`)

// quoted is what a page quotes as it is, such as the text of a licence.
var quoted = regexp.MustCompile("(?ms)^```text\n.*?^```$")

// pages returns the documents by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	add := func(file string) {
		if path.Ext(file) == ".md" {
			all[file] = quoted.ReplaceAllString(read(t, file), "")
		}
	}
	for _, file := range files {
		add(filepath.Base(file))
	}
	walk(t, "docs", add)
	walk(t, "examples", add)
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
			if !isThere(to) {
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

func TestTheIndexLinksEveryDocument(t *testing.T) {
	t.Parallel()
	const folder, index = "docs", "docs/README.md"
	all := pages(t)
	walk(t, folder, func(file string) {
		// The figures of docs/benchmarks are linked by the document of that name, and pictures are in their pages.
		isElsewhere := file == index || path.Ext(file) == ".go" || strings.HasPrefix(file, "docs/benchmarks/") ||
			path.Ext(file) == ".svg"
		if !isElsewhere && !strings.Contains(all[index], "]("+strings.TrimPrefix(file, folder+"/")+")") {
			t.Errorf("%s does not link %s", index, file)
		}
	})
	for _, file := range []string{"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		if !strings.Contains(all[index], "](../"+file+")") {
			t.Errorf("%s does not link %s", index, file)
		}
	}
	if !strings.Contains(all["README.md"], "]("+index+")") {
		t.Errorf("README.md does not link %s", index)
	}
}

// maxWords is what somebody reads who wants to know what Slipway is for.
const maxWords = 900

func TestTheReadmeIsShort(t *testing.T) {
	t.Parallel()
	if words := len(strings.Fields(read(t, "README.md"))); words > maxWords {
		t.Errorf("README.md has %d words, at most %d", words, maxWords)
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
	modules := read(t, "go.mod")
	for _, p := range paths {
		p = strings.TrimSuffix(p, "/...")
		isElsewhere := strings.HasPrefix(p, "bin/") || strings.Contains(modules, p+" v") // what is built, and modules
		if !isThere(p) && !isElsewhere {
			t.Errorf("there is no %s", p)
		}
	}
	makefile := read(t, "Makefile")
	for _, found := range target.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(targets.FindAllStringSubmatch(makefile, -1), func(has []string) bool { return has[1] == found[1] }) {
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
	for _, folder := range []string{"cmd", "deploy", "docs", "graph", "internal", "rest"} {
		walk(t, folder, func(file string) {
			if strings.HasSuffix(file, "_test.go") {
				for _, found := range declaration.FindAllStringSubmatch(read(t, file), -1) {
					all[found[1]] = true
				}
			}
		})
	}
	return all
}
