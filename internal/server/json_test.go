package server_test

import (
	"log/slog"
	"math"
	"testing"

	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

// A value of 200 KB is parsed once on its way in, and written once. To parse or to print it once more takes tens of
// thousands of allocations.
//
//nolint:paralleltest // it counts the allocations of the process, so nothing may run beside it
func TestLargeJSONIsParsedAndWrittenOnce(t *testing.T) {
	w := worldtest.New(t, worldtest.SQLite(t))
	api := benchAPI{w, server.New(w.Store, server.Config{
		Log: slog.New(slog.DiscardHandler), MaxBody: 1 << 20, Limits: document.Limits{Cost: math.MaxInt32},
	})}
	const size = 200 << 10
	for name, c := range map[string]struct {
		run  func(b *testing.B)
		most int64
	}{
		"patch over REST":    {func(b *testing.B) { api.patch(b, size, api.patchREST) }, 125_000},
		"patch over GraphQL": {func(b *testing.B) { api.patch(b, size, api.patchGraphQL) }, 125_000},
		"createDeployment":   {func(b *testing.B) { api.create(b, size) }, 65_000},
	} {
		got := testing.Benchmark(c.run)
		if allocations := got.AllocsPerOp(); got.N == 0 || allocations > c.most {
			t.Errorf("%s: %d allocations in each of %d runs, at most %d are expected", name, allocations, got.N, c.most)
		}
	}
}
