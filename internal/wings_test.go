package internal_test

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

var (
	wings = []string{"base", "pure", "data", "service", "edge", "remote"}
	// apart are the packages that put the wings together, count what they do, and test them.
	apart = []string{"server", "demo", "metrics", "test"}
)

func TestEveryPackageIsInOneWing(t *testing.T) {
	t.Parallel()
	packages := map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".go") && !strings.Contains(file, "testdata/") {
			packages[path.Dir(file)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	count := map[string]int{}
	for at := range packages {
		wing, below, _ := strings.Cut(at, "/")
		switch {
		case at == ".":
		case slices.Contains(wings, wing):
			if below == "" {
				checkHasOnlyItsDoc(t, wing)
			}
			count[wing]++
		case !slices.Contains(apart, wing):
			t.Errorf("internal/%s is in no wing; it belongs below one of %s", at, strings.Join(wings, ", "))
		}
	}
	for _, wing := range wings {
		if count[wing] < 2 {
			t.Errorf("internal/%s has a doc.go of its own and packages: found %d", wing, count[wing])
		}
	}
}

// checkHasOnlyItsDoc wants a wing to be a folder of packages, and no package itself.
func checkHasOnlyItsDoc(t *testing.T, wing string) {
	t.Helper()
	files, err := os.ReadDir(wing)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !f.IsDir() && f.Name() != "doc.go" {
			t.Errorf("internal/%s/%s is in a wing itself; it belongs into a package of it", wing, f.Name())
		}
	}
}

func TestTheLinterHoldsEveryWing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, wing := range wings {
		if !strings.Contains(string(text), `files: ["**/internal/`+wing+`/**", "!$test"`) {
			t.Errorf("no rule of depguard has the files of internal/%s", wing)
		}
	}
}

func TestTheArchitectureNamesEveryPackageOfAWing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, wing := range wings {
		_, section, _ := strings.Cut(string(text), "\n### `internal/"+wing+"`\n")
		section, _, _ = strings.Cut(section, "\n### ")
		folders, err := os.ReadDir(wing)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folders {
			if f.IsDir() && !strings.Contains(section, "`"+f.Name()+"`") {
				t.Errorf("docs/architecture.md does not name internal/%s/%s in the table of its wing", wing, f.Name())
			}
		}
	}
}
