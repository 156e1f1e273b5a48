package deployment_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	"slipway/ent/auditevent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/deployment"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/store"
	"slipway/internal/worldtest"
)

// eachIsolation runs a test on both databases, and on PostgreSQL in strict isolation too.
func eachIsolation(t *testing.T, test func(t *testing.T, w *worldtest.World)) {
	t.Helper()
	worldtest.Each(t, test)
	t.Run("strict", func(t *testing.T) {
		t.Parallel()
		test(t, worldtest.New(t, worldtest.Postgres(t), func(c *store.Config) { c.Isolation = store.Strict }))
	})
}

func TestSweepFailsExactlyWhatHasExpired(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		var expired, held []*ent.Deployment
		places := map[string]*worldtest.Place{}
		orgs := map[string]*worldtest.Org{w.Acme.ID: w.Acme, w.Globex.ID: w.Globex}
		for _, o := range orgs {
			places[o.ID] = w.Place(t, o, "web")
			expired = append(expired, places[o.ID].Deploy(t, places[o.ID].Instance.ID, `{"image":"web:1"}`))
			places[o.ID].Claim(t, expired[len(expired)-1])
		}
		clock.pass(time.Second)
		for _, o := range orgs {
			held = append(held, places[o.ID].Deploy(t, places[o.ID].NewInstance(t, "worker").ID, `{"image":"web:1"}`))
			places[o.ID].Claim(t, held[len(held)-1])
			places[o.ID].Deploy(t, places[o.ID].NewInstance(t, "waits").ID, `{"image":"web:1"}`)
		}
		clock.pass(29*time.Second - time.Microsecond)
		if n, err := w.Deploy.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("too early: %d, %v", n, err)
		}
		clock.pass(time.Microsecond)
		for _, want := range []int{2, 0} {
			if n, err := w.Deploy.ExpireLeases(t.Context()); n != want || err != nil {
				t.Errorf("%d expired, want %d, %v", n, want, err)
			}
		}
		for _, d := range expired {
			wantExpired(t, w, orgs[d.OrganizationID], d.ID, clock.now())
			again, err := w.Deploy.Redeploy(orgs[d.OrganizationID].As(actor.Developer), deployment.Replay{SourceID: d.ID})
			if err != nil || again.ModuleInstanceID != d.ModuleInstanceID {
				t.Errorf("the instance is not free: %v, %v", again, err)
			}
		}
		for _, d := range held {
			left := w.Store.Client.Deployment.GetX(orgs[d.OrganizationID].As(actor.Viewer), d.ID)
			if left.Status != "RUNNING" || left.Version != 2 {
				t.Errorf("%v was swept too", left)
			}
		}
	})
}

// wantExpired wants a deployment to have failed with its lease, and that to be told once and audited.
func wantExpired(t *testing.T, w *worldtest.World, o *worldtest.Org, deploymentID string, at time.Time) {
	t.Helper()
	d := w.Store.Client.Deployment.GetX(o.As(actor.Viewer), deploymentID)
	if d.Status != "FAILED" || codeOf(d) != string(fault.DeploymentLeaseExpired) || d.Error.Message == "" ||
		!d.CompletedAt.Equal(at) || !d.UpdatedAt.Equal(at) || d.LeaseExpiresAt != nil || d.Version != 3 {
		t.Errorf("%v", d)
	}
	if diff := cmp.Diff([]int32{1, 2, 3}, told(t, w, o, deploymentID)); diff != "" {
		t.Errorf("told: %s", diff)
	}
	events := w.Store.Client.AuditEvent.Query().
		Where(auditevent.ObjectID(deploymentID), auditevent.Action("expireLease")).AllX(o.As(actor.Admin))
	want := []*ent.AuditEvent{{
		OrganizationID: o.ID, CreatedAt: at, ActorName: "slipway", ActorRole: "system", Channel: "server",
		Action: "expireLease", ObjectID: deploymentID, Changes: []byte(`{"status":"FAILED"}`),
	}}
	if diff := cmp.Diff(want, events, cmpopts.IgnoreUnexported(ent.AuditEvent{}), cmpopts.IgnoreFields(ent.AuditEvent{}, "ID")); diff != "" {
		t.Errorf("audited: %s", diff)
	}
}

// claimMany makes RUNNING deployments of as many instances, and gives their leases by their ids.
func claimMany(t *testing.T, w *worldtest.World, p *worldtest.Place, n int) map[string]string {
	t.Helper()
	leases := map[string]string{}
	for range n {
		d := p.Deploy(t, p.NewInstance(t, id.New("i")).ID, `{"image":"web:1"}`)
		leases[d.ID] = p.Claim(t, d)
	}
	return leases
}

func TestManySweepsAtOnceFailEachOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		// More than one batch.
		leases := claimMany(t, w, w.Place(t, w.Acme, "web"), 110)
		clock.pass(time.Minute)
		servers := []*deployment.Service{w.Deploy, by(worldtest.Another(t, w.DatabaseURL), clock), by(w, clock)}
		var expired atomic.Int32
		var all sync.WaitGroup
		for _, s := range servers {
			all.Go(func() {
				n, err := s.ExpireLeases(t.Context())
				if err != nil {
					t.Error(err)
				}
				expired.Add(int32(n))
			})
		}
		all.Wait()
		if int(expired.Load()) != len(leases) {
			t.Errorf("%d were expired, want %d", expired.Load(), len(leases))
		}
		ctx := w.Acme.As(actor.Admin)
		failed := w.Store.Client.Deployment.Query().Where(entdeployment.StatusEQ("FAILED"), entdeployment.Version(3)).CountX(ctx)
		events := w.Store.Client.AuditEvent.Query().Where(auditevent.Action("expireLease")).CountX(ctx)
		if failed != len(leases) || events != len(leases) {
			t.Errorf("%d failed, %d audit rows, want %d", failed, events, len(leases))
		}
	})
}

func TestARenewedLeaseIsNotSweptAndASweptOneNotRenewed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		early := clockOf(w)
		leases := claimMany(t, w, w.Place(t, w.Acme, "web"), 40)
		// The renewals are made at the last moment, the sweeps a moment later: either may be first.
		early.pass(deployment.DefaultLease - time.Microsecond)
		late := by(w, &clock{at: early.now().Add(time.Microsecond)})
		var renewed sync.Map
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, err := late.ExpireLeases(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		for deploymentID, lease := range leases {
			all.Go(func() {
				_, l, err := w.Deploy.RenewLease(w.Acme.As(actor.Runner), deploymentID, lease)
				if err == nil {
					renewed.Store(deploymentID, l.ExpiresAt)
				} else if !fault.Is(err, fault.DeploymentLeaseLost) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		swept := 0
		for deploymentID := range leases {
			d := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), deploymentID)
			until, ok := renewed.Load(deploymentID)
			switch {
			case ok && (d.Status != "RUNNING" || d.LeaseExpiresAt == nil || !d.LeaseExpiresAt.Equal(until.(time.Time))):
				t.Errorf("its runner was told that the lease lasts until %s: %v", until, d)
			case !ok && (codeOf(d) != string(fault.DeploymentLeaseExpired) || d.LeaseExpiresAt != nil):
				t.Errorf("its runner was told that the lease is lost: %v", d)
			case !ok:
				swept++
			}
		}
		t.Logf("of %d leases %d were swept before they were renewed", len(leases), swept)
	})
}

func TestALeaseThatCannotBeSweptDoesNotKeepTheOthers(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Place(t, w.Acme, "web")
		var list []*ent.Deployment
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, p.Deploy(t, p.NewInstance(t, name).ID, `{"image":"web:1"}`))
			p.Claim(t, list[len(list)-1])
			clock.pass(time.Microsecond)
		}
		raw(t, w, `UPDATE deployments SET events = '{}' WHERE id = '`+list[0].ID+`'`)
		clock.pass(time.Minute)
		n, err := w.Deploy.ExpireLeases(t.Context())
		if n != 2 || err == nil || !strings.Contains(err.Error(), list[0].ID) {
			t.Errorf("%d expired, want 2; %v", n, err)
		}
	})
}

func TestHouseIsKeptUntilTheServerEnds(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Place(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		changes, err := w.Deploy.Follow(w.Acme.As(actor.Viewer), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "RUNNING", 2)
		clock.pass(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			w.Deploy.Keep(ctx, slog.New(slog.DiscardHandler))
		}()
		wantNext(t, changes, "FAILED", 3)
		cancel()
		<-kept
	})
}

func TestPurgeRemovesWhatIsOldOfEveryOrganization(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		day := 24 * time.Hour
		for o, n := range map[*worldtest.Org]int{w.Acme: 130, w.Globex: 75} {
			remember(t, w, o, n, clock.now().Add(-day), clock.now().Add(-7*day))
			remember(t, w, o, 3, clock.now().Add(-day+time.Microsecond), clock.now().Add(-7*day+time.Microsecond))
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

// doings are all that changes a deployment: each makes one and changes it once more.
var doings = map[string]func(*testing.T, *worldtest.World, *worldtest.Place, *clock) *ent.Deployment{
	"create": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return states["PENDING"](t, p, w)
	},
	"claim": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return states["RUNNING"](t, p, w)
	},
	"succeed": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return states["SUCCEEDED"](t, p, w)
	},
	"fail": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return states["FAILED"](t, p, w)
	},
	"cancel": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return states["CANCELED"](t, p, w)
	},
	"rollback": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return replayed(t, w, p, w.Deploy.Rollback)
	},
	"redeploy": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		return replayed(t, w, p, w.Deploy.Redeploy)
	},
	"report": func(t *testing.T, w *worldtest.World, p *worldtest.Place, _ *clock) *ent.Deployment {
		d := states["RUNNING"](t, p, w)
		d, _, err := w.Deploy.Report(w.Acme.As(actor.Runner), d.ID, *d.LeaseID, deployment.Report{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	},
	"expire": func(t *testing.T, w *worldtest.World, p *worldtest.Place, c *clock) *ent.Deployment {
		d := states["RUNNING"](t, p, w)
		c.pass(time.Minute)
		if n, err := w.Deploy.ExpireLeases(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		return w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
	},
}

func replayed(t *testing.T, w *worldtest.World, p *worldtest.Place, f func(context.Context, deployment.Replay) (*ent.Deployment, error)) *ent.Deployment {
	t.Helper()
	d, err := f(w.Acme.As(actor.Developer), deployment.Replay{SourceID: p.Succeeded(t).ID})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestEveryUpdateRaisesTheVersionAndIsToldInItsTransaction(t *testing.T) {
	t.Parallel()
	versions := map[string]int32{
		"create": 1, "rollback": 1, "redeploy": 1, "claim": 2, "cancel": 2, "report": 3, "succeed": 3, "fail": 3, "expire": 3,
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock := clockOf(w)
		for name, do := range doings {
			d := do(t, w, w.Place(t, w.Acme, name), clock)
			var want []int32
			for v := range versions[name] {
				want = append(want, v+1)
			}
			if diff := cmp.Diff(want, told(t, w, w.Acme, d.ID)); diff != "" || d.Version != versions[name] {
				t.Errorf("%s: version %d, told: %s", name, d.Version, diff)
			}
			if t.Name() == "TestEveryUpdateRaisesTheVersionAndIsToldInItsTransaction/postgres" {
				wantOneTransaction(t, w, name, d.ID)
			}
			if d.CompletedAt == nil {
				if _, err := w.Deploy.Cancel(w.Acme.As(actor.Developer), d.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// wantOneTransaction wants the deployment, its last change row and its last audit row to be written in
// one transaction, as PostgreSQL notes it.
func wantOneTransaction(t *testing.T, w *worldtest.World, name, deploymentID string) {
	t.Helper()
	row := w.Raw(t, w.Acme).QueryRowContext(t.Context(), `SELECT xmin::text,
		(SELECT xid::text FROM deployment_changes c WHERE c.deployment_id = d.id ORDER BY c.version DESC LIMIT 1),
		(SELECT xmin::text FROM audit_events a WHERE a.object_id = d.id ORDER BY a.id DESC LIMIT 1)
		FROM deployments d WHERE id = $1`, deploymentID)
	var written, told, audited string
	if err := row.Scan(&written, &told, &audited); err != nil || written != told || written != audited {
		t.Errorf("%s: written in %s, told in %s, audited in %s, %v", name, written, told, audited, err)
	}
}

func TestClaimsOfNothingAreNotTold(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		unchanged(t, w, "a claim", func() {
			d, lease, err := w.Deploy.Claim(w.Acme.As(actor.Runner), deployment.Claim{Kinds: catalog.Kinds, LeaseID: new("my-lease-1")})
			if d != nil || lease != nil || err != nil {
				t.Errorf("%v under %v, %v", d, lease, err)
			}
		})
	})
}
