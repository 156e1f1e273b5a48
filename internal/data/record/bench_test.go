package record_test

import (
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

func BenchmarkByID(b *testing.B) {
	w := worldtest.New(b, worldtest.SQLite(b), func(c *store.Config) { c.PoisonUnread = false })
	d := w.Fixture(b, w.Acme, "web").Succeeded(b)
	some := record.NewColumns(map[string][]string{"deployments": {"status", "deployment_type", "completed_at"}})
	for name, ctx := range map[string]*record.Columns{"whole": nil, "some columns": some} {
		b.Run(name, func(b *testing.B) {
			ctx := record.WithColumns(w.Acme.As(actor.Viewer), ctx)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := record.Deployments.In(w.Store).ByID(ctx, d.ID, fault.DeploymentNotFound); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
