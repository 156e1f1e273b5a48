package main_test

import (
	"os"
	"strings"
	"testing"

	main "slipway/cmd/slipway"
)

func TestHelpThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	for _, command := range []string{"", "--help", "help deploy", "projects", "deploy --help", "serve --help"} {
		var stderr strings.Builder
		if code := main.Run(t.Context(), strings.Fields(command), full, &stderr, variables{}.lookup); code != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("slipway %s: exit code %d, %s", command, code, stderr.String())
		}
	}
}
