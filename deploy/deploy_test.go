// Package deploy_test tries the files for who operates a server: alerts, the dashboard, and configurations.
package deploy_test

import (
	"fmt"
	"os"
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

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
