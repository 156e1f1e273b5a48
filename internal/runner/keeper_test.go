package runner_test

import (
	"log"
	"os"
	"testing"

	"slipway/internal/runner/keeper"
)

// TestMain is a keeper where a runner has started it as one.
func TestMain(m *testing.M) {
	if path, ok := keeper.Called(os.Args); ok {
		if err := keeper.Main(path, os.Stdin, keeper.Now); err != nil {
			log.Fatal(err)
		}
		return
	}
	code := m.Run()
	if programFolder != "" {
		_ = os.RemoveAll(programFolder)
	}
	os.Exit(code)
}
