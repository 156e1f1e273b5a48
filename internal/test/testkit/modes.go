package testkit

import (
	"io/fs"
	"os"
	"testing"
)

// Modes returns the mode of each file in a directory.
func Modes(t testing.TB, dir string) map[string]fs.FileMode {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]fs.FileMode{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = info.Mode()
	}
	return found
}
