package deployment_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/id"
	"slipway/internal/test/worldtest"
)

func TestPurgeRemovesWhatIsOldOfEveryOrganization(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		day := 24 * time.Hour
		for o, n := range map[*worldtest.Org]int{w.Acme: 130, w.Globex: 75} {
			remember(t, w, o, n, clock.Now().Add(-day), clock.Now().Add(-7*day))
			remember(t, w, o, 3, clock.Now().Add(-day+time.Microsecond), clock.Now().Add(-7*day+time.Microsecond))
		}
		var purged atomic.Int32
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				n, err := w.Deploy.Purge(t.Context())
				if err != nil {
					t.Error(err)
				}
				purged.Add(int32(n))
			})
		}
		all.Wait()
		// Two at once may leave some to the next.
		n, err := w.Deploy.Purge(t.Context())
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
		if n, err := w.Deploy.Purge(t.Context()); n != 0 || err != nil {
			t.Errorf("once more: %d, %v", n, err)
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
