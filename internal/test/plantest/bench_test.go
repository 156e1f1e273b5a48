package plantest_test

import (
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/service/deployment/view"
	"slipway/internal/test/worldtest"
)

// BenchmarkLargeEnvironment reads the first 50 of an environment's 10,000 deployments: with the policy and
// the cost of a page that there were, with the policy alone as it is, and with both.
func BenchmarkLargeEnvironment(b *testing.B) {
	w := worldtest.New(b, worldtest.Postgres(b))
	fill(b, w, 50_000)
	db := loader(b, w)
	execute(b, db, "ANALYZE")
	var policy string
	if err := db.QueryRowContext(b.Context(), `SELECT qual FROM pg_policies WHERE tablename = 'deployments' AND cmd = 'SELECT'`).Scan(&policy); err != nil {
		b.Fatal(err)
	}
	environment := "env_00000000000000000001000000"
	for _, c := range []struct{ name, policy, options string }{
		{"or", `organization_id = current_setting('app.org_id', true) OR current_setting('app.isolation', true) = 'filter'`, "&options=-c%20random_page_cost%3D4"},
		{"case", policy, "&options=-c%20random_page_cost%3D4"},
		{"now", policy, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			execute(b, db, "ALTER POLICY tenant_read ON deployments USING ("+c.policy+")")
			services := worldtest.Another(b, w.DatabaseURL+c.options)
			viewer := w.Acme.As(actor.Viewer)
			for b.Loop() {
				found, err := services.Deploy.View.Deployments(viewer, view.Filter{EnvironmentID: &environment}, page.Args{})
				if err != nil || len(found.Edges) != 20 {
					b.Fatal(found, err)
				}
			}
		})
	}
}
