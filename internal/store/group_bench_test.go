package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"slipway/internal/actor"
	"slipway/internal/deployment"
	"slipway/internal/worldtest"
)

// BenchmarkGroup has writers roll back at once, each on its own instances.
func BenchmarkGroup(b *testing.B) {
	const each = 4
	for _, writers := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			w := worldtest.New(b, worldtest.SQLite(b))
			sources := rollbackSources(b, w, writers*each)
			raw := w.Raw(b, w.Acme)
			var rates []float64
			for b.Loop() {
				begun := time.Now()
				rollBackAll(b, w, sources, writers)
				rates = append(rates, float64(len(sources))/time.Since(begun).Seconds())
				cancelAll(b, raw)
			}
			slices.Sort(rates)
			b.ReportMetric(rates[len(rates)/2], "rollbacks/s")
		})
	}
}

// rollbackSources makes instances with a deployment each that can be rolled back to.
func rollbackSources(b *testing.B, w *worldtest.World, n int) []string {
	b.Helper()
	f := w.Fixture(b, w.Acme, "web")
	sources := make([]string, n)
	for i := range sources {
		sources[i] = f.Finish(b, f.Deploy(b, f.NewInstance(b, fmt.Sprint("i", i)).ID, `{"image":"web:1.4.2"}`), nil).ID
	}
	return sources
}

// rollBackAll rolls back to all sources by so many writers at once.
func rollBackAll(b *testing.B, w *worldtest.World, sources []string, writers int) {
	b.Helper()
	developer := w.Acme.As(actor.Developer)
	var all sync.WaitGroup
	for own := range slices.Chunk(sources, len(sources)/writers) {
		all.Go(func() {
			for _, source := range own {
				if _, err := w.Deploy.Rollback(developer, deployment.Replay{SourceID: source}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// cancelAll ends what is active, so that the same can be rolled back again.
func cancelAll(b *testing.B, db *sql.DB) {
	b.Helper()
	if _, err := db.ExecContext(b.Context(), "UPDATE deployments SET status = 'CANCELED', completed_at = updated_at WHERE completed_at IS NULL"); err != nil {
		b.Fatal(err)
	}
}
