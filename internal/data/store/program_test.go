package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"slipway/ent"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/service/catalog"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

// needed returns what programs must have at least.
func needed(t *testing.T, w *worldtest.World) (migration int64) {
	t.Helper()
	if err := w.Raw(t, w.Acme).QueryRow(`SELECT MAX(compatible_with) FROM migration_compatibility`).Scan(&migration); err != nil {
		t.Fatal(err)
	}
	return migration
}

func TestTheFirstRuleAndTheFirstRollbackOfAFailureKeepOlderProgramsOut(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(w *worldtest.World, p *worldtest.Fixture) error{
		"a rule": func(w *worldtest.World, p *worldtest.Fixture) error {
			_, _, err := w.Rules.Create(w.Acme.As(actor.Admin), rule.New{Name: fmt.Sprint("R", w.Store.Client.Rule.Query().CountX(w.Acme.As(actor.Admin))), Demand: gate.Demand{
				Kind: &gate.Approvals{Count: 1, Role: actor.Admin}}})
			return err
		},
		"onFailure": func(w *worldtest.World, p *worldtest.Fixture) error {
			_, err := w.Catalog.UpdateInstance(w.Acme.As(actor.Admin), p.Instance.ID, catalog.InstancePatch{OnFailure: new(moduleinstance.OnFailureROLL_BACK)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
				p := w.Fixture(t, w.Acme, "web")
				_, err := w.Catalog.UpdateInstance(w.Acme.As(actor.Admin), p.Instance.ID, catalog.InstancePatch{OnFailure: new(moduleinstance.OnFailureNOTHING)})
				if err != nil {
					t.Fatal(err)
				}
				if got := needed(t, w); got >= store.ReleaseControl {
					t.Errorf("before %s programs need %d", name, got)
				}
				for range 2 {
					if err := make(w, p); err != nil {
						t.Fatal(err)
					}
				}
				if got := needed(t, w); got != store.ReleaseControl {
					t.Errorf("after %s programs need %d, want %d", name, got, store.ReleaseControl)
				}
				if err := w.Store.CheckProgram(t.Context()); err != nil {
					t.Errorf("this program, after %s: %v", name, err)
				}
			})
		})
	}
}

func TestAProgramThatIsTooOldIsNotFitForTheDatabase(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		tooNew := func(ctx context.Context, tx *ent.Tx) error { return store.RequireProgram(ctx, tx, 29990101000000) }
		unknown := func(context.Context, *ent.Client) (bool, error) { return false, nil }
		if err := w.Store.Tx(w.Acme.As(actor.Admin), unknown, tooNew); err != nil {
			t.Fatal(err)
		}
		if err := w.Store.CheckProgram(t.Context()); !errors.Is(err, store.ErrProgramTooOld) {
			t.Errorf("a database that needs a newer program: %v", err)
		}
	})
}
