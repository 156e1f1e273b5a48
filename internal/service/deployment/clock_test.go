package deployment_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// clock is the time of the deployments of a world.
type clock struct {
	*testkit.Clock
	// noted, where it is not nil, is called when time has passed.
	noted func(time.Time)
}

// Advance advances the clock, and lets the sweep of leases have worked meanwhile.
func (c *clock) Advance(d time.Duration) {
	c.Clock.Advance(d)
	if c.noted != nil {
		c.noted(c.Now())
	}
}

// clockOf lets the deployments of a world go by a clock, which stands still by itself, in a house that was always
// kept: no lease is spared because the servers were away.
func clockOf(w *worldtest.World) *clock {
	c := &clock{Clock: testkit.NewClock(store.Now()), noted: func(at time.Time) { noteSweep(w, at) }}
	c.noted(c.Now())
	w.Deploy = by(w, c)
	return c
}

// noteSweep has the sweep have worked last at a time, and always before.
func noteSweep(w *worldtest.World, worked time.Time) {
	if err := w.NoteSweep(worked, time.Unix(0, 0)); err != nil {
		panic(err) // a clock has no test to fail
	}
}

// by returns the world's service of deployments as it goes by a clock.
func by(w *worldtest.World, c *clock) *deployment.Services {
	j := journal.NewAlone(w.Store, c.Now, id.New)
	j.Changed = func(d *ent.Deployment, _ deploymentchange.Kind) { w.Deploy.View.Feed.Changed(d) }
	return w.Deploy.With(func(d *deployment.Deps) { d.Journal = j })
}

// recorded is all that an operation on deployments may write.
func recorded(t *testing.T, w *worldtest.World) map[string]any {
	t.Helper()
	return map[string]any{
		"rows":        w.Rows(t),
		"deployments": w.Store.Client.Deployment.Query().Order(ent.Asc("id")).AllX(w.Acme.As(actor.Viewer)),
		"instances":   w.Store.Client.ModuleInstance.Query().Order(ent.Asc("id")).AllX(w.Acme.As(actor.Viewer)),
	}
}

var whole = cmpopts.IgnoreUnexported(ent.Deployment{}, ent.DeploymentEdges{}, ent.ModuleInstance{}, ent.ModuleInstanceEdges{}, ecs.Column{})

// unchanged says that a call writes nothing.
func unchanged(t *testing.T, w *worldtest.World, name string, call func()) {
	t.Helper()
	before := recorded(t, w)
	call()
	if diff := cmp.Diff(before, recorded(t, w), whole); diff != "" {
		t.Errorf("%s wrote:\n%s", name, diff)
	}
}
