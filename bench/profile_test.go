//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The compiler takes a profile whose functions have other names without a word, and optimizes nothing by it.
func TestTheProfileNamesPackagesThatThereAre(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "cpu.pprof").Output()
	if err != nil {
		t.Fatal(err)
	}

	found := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m) slipway/([a-z0-9/]+)\.`).FindAllSubmatch(out, -1) {
		path := string(name[1])
		if found[path] {
			continue
		}
		found[path] = true
		if _, err := os.Stat(filepath.Join("..", path)); err != nil {
			t.Errorf("there is no package %s: record the profile again (make profile)", path)
		}
	}
	if len(found) < 20 {
		t.Errorf("the profile names %d packages, want at least 20", len(found))
	}
}
