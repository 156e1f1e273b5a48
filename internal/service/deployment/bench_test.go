package deployment_test

import (
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/server"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// BenchmarkDeployment reads a deployment by its id, on each database and in each isolation.
func BenchmarkDeployment(b *testing.B) {
	for _, c := range []struct {
		name      string
		database  func(testing.TB) string
		isolation store.Isolation
	}{
		{"sqlite", worldtest.SQLite, ""},
		{"postgres/filter", worldtest.Postgres, store.Filter},
		{"postgres/strict", worldtest.Postgres, store.Strict},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := worldtest.New(b, c.database(b))
			d := w.Fixture(b, w.Acme, "web").Succeeded(b)
			s, err := store.Open(b.Context(), store.Config{URL: w.DatabaseURL, Isolation: c.isolation})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			services := server.NewServices(s, nil, store.Now, "")
			viewer := w.Acme.As(actor.Viewer)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := services.Deploy.View.Deployment(viewer, d.ID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRollback rolls back, and cancels what that started.
func BenchmarkRollback(b *testing.B) {
	for name, database := range worldtest.Databases {
		b.Run(name, func(b *testing.B) {
			w := worldtest.New(b, database(b))
			target := w.Fixture(b, w.Acme, "web").Succeeded(b)
			developer := w.Acme.As(actor.Developer)
			b.ReportAllocs()
			for b.Loop() {
				d, _, err := w.Deploy.Propose.Rollback(developer, propose.Replay{SourceID: target.ID})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if _, err := w.Deploy.Execution.Cancel(developer, d.ID, nil); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
