package prooftest_test

import (
	"fmt"
	"testing"
	"time"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestLostAnswersOfTheDatabaseDoubleAndLoseNothing(t *testing.T) {
	t.Parallel()
	near := worldtest.New(t, worldtest.Postgres(t))
	p, through := newProxy(t, near.DatabaseURL)
	far := worldtest.Another(t, through)
	chance, cuts := seeded(t), testkit.Often(5, 50)
	sources := targets(t, near, cuts+1)
	c, viewer := newClient(t, near.Acme.Tokens[actor.Developer], 1), near.Acme.As(actor.Viewer)
	// The first request of a token also notes that it was used.
	if a, err := c.send(t.Context(), far.URL, request{source: sources[cuts]}); err != nil || !a.made() {
		t.Fatalf("%v: %s", err, a.body)
	}
	before, begun := near.Rows(t), time.Now()
	kept := 0
	for i, source := range sources[:cuts] {
		q := request{source: source, graphQL: chance.IntN(2) == 0}
		if chance.IntN(2) == 0 {
			q.key = fmt.Sprintf("key-%d", i)
			kept++
		}
		how := answerLost + loss(i%4)
		p.lose(how, chance.IntN(2) == 0)
		a, err := c.send(t.Context(), far.URL, q)
		if err != nil || !a.made() {
			t.Errorf("loss %d: %v, answered %d: %s", how, err, a.status, a.body)
			continue
		}
		made := near.Store.Client.Deployment.Query().Where(deployment.RollbackToDeploymentID(source)).AllX(viewer)
		if len(made) != 1 || made[0].ID != a.id {
			t.Errorf("loss %d: %v were made, %s was answered", how, made, a.id)
		}
	}
	if n := int(p.cuts.Load()); n != cuts {
		t.Errorf("%d connections were cut, want %d", n, cuts)
	}
	rows := near.Rows(t)
	for table, want := range map[string]int{"deployments": cuts, "deployment_changes": cuts, "audit_events": cuts, "idempotency_keys": kept} {
		if n := rows[table] - before[table]; n != want {
			t.Errorf("%d rows of %s were written, want %d", n, table, want)
		}
	}
	proved.note(t, begun, "%d connections cut at COMMIT: %d deployments, each answered", p.cuts.Load(), rows["deployments"]-before["deployments"])
}
