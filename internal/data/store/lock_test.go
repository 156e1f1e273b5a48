package store_test

import (
	"context"
	"slices"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// waitForAdvisoryLock waits until a transaction of PostgreSQL waits for another's lock. On SQLite, where transactions come one
// after the other, nothing shows it.
func waitForAdvisoryLock(t *testing.T, w *worldtest.World) {
	t.Helper()
	if !w.Store.Postgres() {
		return
	}
	testkit.Eventually(t, "a transaction waits for another", func() bool {
		const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
		return alone(w.Acme.As(actor.Admin), w.Store, waiting) == "1"
	})
}

func TestWhatStopsCreationSeesAllThatWasCreated(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		found, stopped := make(chan []string, 1), make(chan error, 1)
		err := w.Store.Tx(store.Creating(w.Acme.As(actor.Admin)), never, func(ctx context.Context, tx *ent.Tx) error {
			must(t, newProject(ctx, tx, w.Acme.ID, "web"))
			must(t, look(ctx, tx)) // which sends the INSERT
			go func() {
				stopped <- w.Store.Tx(store.StoppingCreation(w.Acme.As(actor.Admin)), never, func(ctx context.Context, tx *ent.Tx) error {
					found <- slugs(ctx, tx.Client())
					return nil
				})
			}()
			waitForAdvisoryLock(t, w)
			return nil
		})
		must(t, err)
		must(t, <-stopped)
		if got := <-found; !slices.Equal(got, []string{"web"}) {
			t.Errorf("found %q", got)
		}
	})
}

func TestCreationWaitsForWhatStopsIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		found, created := make(chan []string, 1), make(chan error, 1)
		err := w.Store.Tx(store.StoppingCreation(w.Acme.As(actor.Admin)), never, func(ctx context.Context, tx *ent.Tx) error {
			must(t, newProject(ctx, tx, w.Acme.ID, "web"))
			must(t, look(ctx, tx))
			go func() {
				created <- w.Store.Tx(store.Creating(w.Acme.As(actor.Developer)), never, func(ctx context.Context, tx *ent.Tx) error {
					found <- slugs(ctx, tx.Client())
					return nil
				})
			}()
			waitForAdvisoryLock(t, w)
			return nil
		})
		must(t, err)
		must(t, <-created)
		if got := <-found; !slices.Equal(got, []string{"web"}) {
			t.Errorf("found %q", got)
		}
	})
}

// Who creates waits for nobody who creates, and for nobody of another organization. The wait for who does not end is
// bounded.
func TestCreationWaitsForNobodyElse(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	begin := func(ctx context.Context, within ...func()) error {
		return w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			err := look(ctx, tx)
			for _, f := range within {
				f()
			}
			return err
		})
	}
	acme, globex := w.Acme.As(actor.Admin), w.Globex.As(actor.Admin)
	must(t, begin(store.Creating(acme), func() {
		must(t, begin(store.Creating(acme)))
		must(t, begin(acme))
		must(t, begin(store.StoppingCreation(globex)))
		if err := begin(store.StoppingCreation(acme)); !fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("while somebody creates: %v", err)
		}
	}))
	must(t, begin(store.StoppingCreation(acme), func() {
		must(t, begin(acme))
		must(t, begin(store.Creating(globex)))
		if err := begin(store.Creating(acme)); !fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("while creation is stopped: %v", err)
		}
	}))
}
