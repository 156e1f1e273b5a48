package main_test

import (
	"context"
	"os"
	"testing"

	main "slipway/cmd/slipway"
	"slipway/internal/keeper"
)

// TestMain is the program where a runner has started it as a keeper.
func TestMain(m *testing.M) {
	if _, ok := keeper.Called(os.Args); ok {
		os.Exit(main.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv))
	}
	os.Exit(m.Run())
}
