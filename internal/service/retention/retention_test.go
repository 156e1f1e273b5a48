package retention_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func eachIsolation(t *testing.T, test func(t *testing.T, w *worldtest.World)) {
	t.Helper()
	worldtest.Each(t, test)
	t.Run("strict", func(t *testing.T) {
		t.Parallel()
		test(t, worldtest.New(t, worldtest.Postgres(t), func(c *store.Config) { c.Isolation = store.Strict }))
	})
}

func TestPurgeRemovesWhatIsOldOfEveryOrganization(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		now, day := store.Now(), 24*time.Hour
		house := w.RetentionAt(now)
		for o, n := range map[*worldtest.Org]int{w.Acme: 130, w.Globex: 75} {
			remember(t, w, o, n, now.Add(-day), now.Add(-7*day))
			remember(t, w, o, 3, now.Add(-day+time.Microsecond), now.Add(-7*day+time.Microsecond))
		}
		var purged atomic.Int32
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				n, err := house.Purge(t.Context())
				if err != nil {
					t.Error(err)
				}
				purged.Add(int32(n))
			})
		}
		all.Wait()
		// Two at once may leave some to the next.
		n, err := house.Purge(t.Context())
		if int(purged.Load())+n != 2*205 || err != nil {
			t.Errorf("%d and %d were purged, %v", purged.Load(), n, err)
		}
		for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
			keys := w.Store.Client.IdempotencyKey.Query().CountX(o.As(actor.Viewer))
			changes := w.Store.Client.DeploymentChange.Query().CountX(o.As(actor.Viewer))
			if keys != 3 || changes != 3 {
				t.Errorf("%s: %d keys and %d change rows are left, want 3 and 3", o.Slug, keys, changes)
			}
		}
		if n, err := house.Purge(t.Context()); n != 0 || err != nil {
			t.Errorf("once more: %d, %v", n, err)
		}
	})
}

func TestPurgeRemovesTheAsksOfRunnersThatAskNoMore(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		began := store.Now()
		for i, o := range []*worldtest.Org{w.Acme, w.Globex, w.Acme} {
			ago := []time.Duration{24 * time.Hour, 24 * time.Hour, 24*time.Hour - time.Second}[i]
			a := *actor.From(o.As(actor.Runner))
			a.ID = fmt.Sprint("tok_", i)
			asking := w.DeployBy(func() time.Time { return began.Add(-ago) }).Runners
			asking.Note(&a, []string{"aws:ecs", "terraform"}, []state.Action{state.Apply})
			asking.StoreAsks(t.Context())
		}
		if n, err := w.RetentionAt(began).Purge(t.Context()); n != 4 || err != nil {
			t.Errorf("%d were purged, %v, want 4", n, err)
		}
		if left := w.Store.Client.RunnerAsk.Query().AllX(w.Acme.As(actor.Viewer)); len(left) != 2 || left[0].TokenID != "tok_2" {
			t.Errorf("%v are left", left)
		}
	})
}

// remember writes idempotency keys and change rows of the given times.
func remember(t *testing.T, w *worldtest.World, o *worldtest.Org, n int, keysAt, changesAt time.Time) {
	t.Helper()
	never := func(context.Context, *ent.Client) (bool, error) { return false, nil }
	err := w.Store.Tx(o.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		keys, changes := make([]*ent.IdempotencyKeyCreate, n), make([]*ent.DeploymentChangeCreate, n)
		for i := range n {
			keyID := id.New(id.IdempotencyKey)
			keys[i] = tx.IdempotencyKey.Create().SetID(keyID).SetOrganizationID(o.ID).SetActorID("tok_1").
				SetKey(keyID).SetRequestHash("h").SetDeploymentID("dep_1").SetCreatedAt(keysAt)
			changes[i] = tx.DeploymentChange.Create().SetOrganizationID(o.ID).
				SetDeploymentID(fmt.Sprint("dep_", i)).SetVersion(1).SetCreatedAt(changesAt)
		}
		if err := tx.IdempotencyKey.CreateBulk(keys...).Exec(ctx); err != nil {
			return err
		}
		return tx.DeploymentChange.CreateBulk(changes...).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPurgeIsTakenOnByOneServerAnHour(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		now := store.Now()
		var ended atomic.Int32
		purges := func(at time.Time, servers int) int {
			ended.Store(0)
			var all sync.WaitGroup
			for range servers {
				house := w.RetentionAt(at)
				house.Ended = func(err error) {
					if err != nil {
						t.Error(err)
					}
					ended.Add(1)
				}
				all.Go(func() {
					if _, err := house.PurgeIfDue(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			return int(ended.Load())
		}
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{0, 1}, {0, 0}, {time.Hour - time.Microsecond, 0}, {time.Hour, 1}, {time.Hour, 0}, {-time.Hour, 1}} {
			if n := purges(now.Add(c.after), 8); n != c.want {
				t.Errorf("after %s %d of 8 servers have purged, want %d", c.after, n, c.want)
			}
		}
	})
}

func TestAPurgeThatGoesOnIsNotTakenOnAndOneThatStoppedIs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		began := store.Now()
		clock := testkit.NewClock(began)
		slow := w.RetentionAt(began)
		slow.Journal = journal.NewAlone(w.Store, clock.Now, id.New)
		others := 0
		other := func(at time.Time) {
			house := w.RetentionAt(at)
			house.Ended = func(error) { others++ }
			if _, err := house.PurgeIfDue(t.Context()); err != nil {
				t.Error(err)
			}
		}
		var steps int
		slow.Purged = func(string, int) {
			switch steps++; steps {
			case 1: // an hour has passed, but the next step says that it works on
				clock.Advance(time.Hour)
			case 2:
				other(clock.Now().Add(time.Minute - time.Microsecond))
				if others != 0 {
					t.Error("another server has taken on what is worked on")
				}
				clock.Advance(time.Minute)
				other(clock.Now())
				if others != 1 {
					t.Errorf("%d servers have taken on what nobody works on, want 1", others)
				}
			}
		}
		if _, err := slow.PurgeIfDue(t.Context()); err == nil || !strings.Contains(err.Error(), "another server") {
			t.Errorf("the first server ended with %v", err)
		}
		if steps != 3 {
			t.Errorf("the first server did %d kinds of rows, want 3", steps)
		}
	})
}

func TestAPurgeWhoseServerWasKilledIsTakenOverAfterAMinute(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		now := store.Now()
		killed, kill := context.WithCancel(t.Context())
		house := w.RetentionAt(now)
		kinds := 0
		house.Purged = func(string, int) { kinds++; kill() }
		if _, err := house.PurgeIfDue(killed); kinds != 1 || err != nil {
			t.Fatalf("the server purged %d kinds of rows before it was killed, %v", kinds, err)
		}
		remember(t, w, w.Acme, 3, now.Add(-48*time.Hour), now)

		for _, c := range []struct {
			after time.Duration
			want  int
		}{
			{time.Minute - time.Microsecond, 0}, {time.Minute, 3}, // taken over, once
			{2 * time.Minute, 0}, {time.Hour, 0}, {time.Hour + time.Minute, 3},
		} {
			n, err := w.RetentionAt(now.Add(c.after)).PurgeIfDue(t.Context())
			if n != c.want || err != nil {
				t.Errorf("after %s: %d rows were purged, %v, want %d", c.after, n, err, c.want)
			}
			if n > 0 {
				remember(t, w, w.Acme, 3, now.Add(-48*time.Hour), now.Add(time.Hour))
			}
		}
	})
}
