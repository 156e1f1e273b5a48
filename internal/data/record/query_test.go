package record_test

import (
	"context"
	"slices"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/record"
	"slipway/internal/test/worldtest"
)

func TestReadsAreOfTheOrganizationOfTheActor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, other := w.Fixture(t, w.Acme, "web").Succeeded(t), w.Fixture(t, w.Globex, "web").Succeeded(t)
		ctx := w.Acme.As(actor.Viewer)
		all := record.Deployments.In(w.Store)
		if d, err := all.ByID(ctx, other.ID, fault.DeploymentNotFound); d != nil || !fault.Is(err, fault.DeploymentNotFound) {
			t.Errorf("by the id of another organization's: %v, %v", d, err)
		}
		ids := func(list []*record.Deployment, err error) []string {
			if err != nil {
				t.Error(err)
			}
			var ids []string
			for _, d := range list {
				ids = append(ids, d.ID)
			}
			return ids
		}
		for name, got := range map[string][]string{
			"by ids": ids(all.ByIDs(ctx, []string{other.ID, own.ID, `"},{'`, ""})),
			"a list": ids(all.Range(ctx, record.Range{Limit: 10})),
		} {
			if !slices.Equal(got, []string{own.ID}) {
				t.Errorf("%s: %s, want %s alone", name, got, own.ID)
			}
		}
		parents := []string{own.ModuleInstanceID, other.ModuleInstanceID}
		lists, err := all.Children(ctx, "module_instance_id", parents, record.Range{Limit: 10}, func(d *record.Deployment) string { return d.ModuleInstanceID })
		if err != nil || len(lists) != 1 || len(lists[own.ModuleInstanceID]) != 1 {
			t.Errorf("lists of parents: %v, %v", lists, err)
		}
		counts, err := all.CountChildren(ctx, "module_instance_id", parents)
		if err != nil || counts[own.ModuleInstanceID] != 1 || counts[other.ModuleInstanceID] != 0 {
			t.Errorf("counts of parents: %v, %v", counts, err)
		}
		if n, err := all.Count(ctx); n != 1 || err != nil {
			t.Errorf("%d of them, %v", n, err)
		}
		if list, err := all.Range(context.Background(), record.Range{Limit: 10}); err == nil {
			t.Errorf("without an actor: %v", list)
		}
	})
}
