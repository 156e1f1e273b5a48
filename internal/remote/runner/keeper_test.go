package runner_test

import (
	"log"
	"os"
	"testing"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
)

// TestMain is a keeper, a program that counts its signals or a Terraform, if it was started as one.
func TestMain(m *testing.M) {
	act, ok := testkit.CountSignals(os.Args)
	if !ok {
		act, ok = terraform(os.Args)
	}
	if ok {
		if err := act(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if path, ok := keeper.Called(os.Args); ok {
		if err := keeper.Main(path, os.Stdin, keeper.Now); err != nil {
			log.Fatal(err)
		}
		return
	}
	os.Exit(built.Run(m))
}
