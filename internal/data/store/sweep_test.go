package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

type sweep func(ctx context.Context, by time.Time, limit int) ([]store.OwnedID, error)

func sweeps(s *store.Store) map[string]sweep {
	return map[string]sweep{"leases": s.ExpiredLeases, "keys": s.OldIdempotencyKeys, "changes": s.OldChanges}
}

// housekeeper is the system, which acts in no organization.
func housekeeper(ctx context.Context) context.Context {
	return actor.With(ctx, &actor.Actor{Name: "slipway", Role: actor.System, Channel: actor.Server})
}

func TestOnlyTheSystemLooksOverAllOrganizations(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Claim(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`))
		later := time.Now().Add(time.Hour)
		for name, ctx := range map[string]context.Context{
			"nobody":     t.Context(),
			"anonymous":  actor.With(t.Context(), actor.Anonymous()),
			"an admin":   w.Acme.As(actor.Admin),
			"a runner":   w.Acme.As(actor.Runner),
			"superadmin": actor.With(t.Context(), &actor.Actor{ID: "tok_1", Role: actor.Superadmin}),
		} {
			for over, find := range sweeps(w.Store) {
				if found, err := find(ctx, later, 10); err == nil || found != nil {
					t.Errorf("%s was given the %s %v", name, over, found)
				}
			}
		}
		if found, err := w.Store.ExpiredLeases(housekeeper(t.Context()), later, 10); err != nil || len(found) != 1 {
			t.Errorf("the system was given %v, %v", found, err)
		}
	})
}

// sweepable writes a key of an organization, of a time.
func sweepable(t *testing.T, w *worldtest.World, o *worldtest.Org, id string, at time.Time) {
	t.Helper()
	err := w.Store.Tx(o.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		return tx.IdempotencyKey.Create().SetID(id).SetOrganizationID(o.ID).SetActorID("tok_1").SetKey(id).
			SetRequestHash("h").SetDeploymentID("dep_1").SetCreatedAt(at).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweepsFindTheOldestOfAllOrganizations(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, w *worldtest.World) {
		at := store.Now()
		// Fractions of every length: texts of times have to compare as times do.
		sweepable(t, w, w.Globex, "d", at)
		sweepable(t, w, w.Acme, "c", at.Truncate(time.Millisecond).Add(-time.Millisecond))
		sweepable(t, w, w.Globex, "b", at.Truncate(time.Second).Add(-time.Second))
		sweepable(t, w, w.Acme, "a", at.Truncate(time.Second).Add(-time.Second-time.Microsecond))
		sweepable(t, w, w.Acme, "e", at.Add(time.Microsecond))
		acme, globex := w.Acme.ID, w.Globex.ID
		want := []store.OwnedID{{OrganizationID: acme, ID: "a"}, {OrganizationID: globex, ID: "b"}, {OrganizationID: acme, ID: "c"}, {OrganizationID: globex, ID: "d"}}
		for limit := 1; limit < 6; limit++ {
			found, err := w.Store.OldIdempotencyKeys(housekeeper(t.Context()), at, limit)
			if diff := cmp.Diff(want[:min(limit, len(want))], found); err != nil || diff != "" {
				t.Errorf("limit %d: %v: %s", limit, err, diff)
			}
		}
		for over, find := range sweeps(w.Store) {
			if found, err := find(housekeeper(t.Context()), at.Add(-time.Hour), 10); len(found) != 0 || err != nil {
				t.Errorf("%s of long ago: %v, %v", over, found, err)
			}
		}
	}
	worldtest.Each(t, test)
	t.Run("strict", func(t *testing.T) {
		t.Parallel()
		test(t, worldtest.New(t, worldtest.Postgres(t), func(c *store.Config) { c.Isolation = store.Strict }))
	})
}

func TestSweepsLeaveNoSessionThatSeesEverything(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t), func(c *store.Config) { c.Isolation, c.MaxConns = store.Strict, 1 })
	theirs := w.Fixture(t, w.Globex, "web")
	if _, err := w.Store.OldChanges(housekeeper(t.Context()), time.Now(), 10); err != nil {
		t.Fatal(err)
	}
	// Raw SQL escapes the query filter: the one session of the pool has only the database's own to hold it.
	err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT id FROM projects")
		if err != nil {
			return err
		}
		if rows.Next() {
			t.Errorf("another organization's project is seen, such as %s", theirs.Project.ID)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweepsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx, cancel := context.WithCancel(housekeeper(t.Context()))
		cancel()
		for over, find := range sweeps(w.Store) {
			if _, err := find(ctx, time.Now(), 10); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", over, err)
			}
		}
	})
}
