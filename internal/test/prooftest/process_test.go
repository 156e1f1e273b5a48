package prooftest_test

import (
	"os/exec"
	"testing"

	"slipway/internal/test/testkit"
)

// built is the program as it is built for these tests.
var built testkit.Program

// build builds the program with flags of go build and returns its path.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	path, err := testkit.Build(t.Context(), t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// serve starts a server on a free port and waits until it serves. What still runs when the test ends is
// killed.
func serve(t *testing.T, program, database string) *testkit.Server {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "",
		"--log-format", "json", "--max-requests-per-caller", "0", "--cost-capacity", "0") // one token asks for everything
	c.Env = []string{}
	return testkit.Serve(t, c)
}
