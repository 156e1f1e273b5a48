package deployment_test

import (
	"context"
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
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
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
		places := map[string]*worldtest.Fixture{}
		orgs := map[string]*worldtest.Org{w.Acme.ID: w.Acme, w.Globex.ID: w.Globex}
		for _, o := range orgs {
			places[o.ID] = w.Fixture(t, o, "web")
			expired = append(expired, places[o.ID].Deploy(t, places[o.ID].Instance.ID, `{"image":"web:1"}`))
			places[o.ID].Claim(t, expired[len(expired)-1])
		}
		clock.Advance(time.Second)
		for _, o := range orgs {
			held = append(held, places[o.ID].Deploy(t, places[o.ID].NewInstance(t, "worker").ID, `{"image":"web:1"}`))
			places[o.ID].Claim(t, held[len(held)-1])
			places[o.ID].Deploy(t, places[o.ID].NewInstance(t, "waits").ID, `{"image":"web:1"}`)
		}
		clock.Advance(execution.DefaultLease - time.Second - time.Microsecond)
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("too early: %d, %v", n, err)
		}
		clock.Advance(time.Microsecond)
		for _, want := range []int{2, 0} {
			if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != want || err != nil {
				t.Errorf("%d expired, want %d, %v", n, want, err)
			}
		}
		for _, d := range expired {
			wantExpired(t, w, orgs[d.OrganizationID], d.ID, clock.Now())
			again, _, err := w.Deploy.Propose.Redeploy(orgs[d.OrganizationID].As(actor.Developer), propose.Replay{SourceID: d.ID})
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

// wantExpired wants a deployment to have failed with its lease, and that to be recorded once and audited.
func wantExpired(t *testing.T, w *worldtest.World, o *worldtest.Org, deploymentID string, at time.Time) {
	t.Helper()
	d := w.Store.Client.Deployment.GetX(o.As(actor.Viewer), deploymentID)
	if d.Status != "FAILED" || codeOf(d) != string(fault.DeploymentLeaseExpired) || d.Error.Message == "" ||
		!d.CompletedAt.Equal(at) || !d.UpdatedAt.Equal(at) || d.LeaseExpiresAt != nil || d.Version != 3 {
		t.Errorf("%v", d)
	}
	if diff := cmp.Diff([]int32{1, 2, 3}, recordedVersions(t, w, o, deploymentID)); diff != "" {
		t.Errorf("recorded versions: %s", diff)
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

// claimMany makes RUNNING deployments of as many instances, and returns their leases by their ids.
func claimMany(t *testing.T, w *worldtest.World, p *worldtest.Fixture, n int) map[string]string {
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
		leases := claimMany(t, w, w.Fixture(t, w.Acme, "web"), 110)
		clock.Advance(execution.DefaultLease)
		servers := []*deployment.Services{w.Deploy, by(worldtest.Another(t, w.DatabaseURL), clock), by(w, clock)}
		var expired atomic.Int32
		var all sync.WaitGroup
		for _, s := range servers {
			all.Go(func() {
				n, err := s.Execution.ExpireLeases(t.Context())
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
		leases := claimMany(t, w, w.Fixture(t, w.Acme, "web"), 40)
		// The renewals are made at the last moment, the sweeps a moment later: either may be first.
		early.Advance(execution.DefaultLease - time.Microsecond)
		late := by(w, &clock{Clock: testkit.NewClock(early.Now().Add(time.Microsecond))})
		var renewed sync.Map
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, err := late.Execution.ExpireLeases(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		for deploymentID, lease := range leases {
			all.Go(func() {
				_, l, err := w.Deploy.Execution.RenewLease(w.Acme.As(actor.Runner), deploymentID, lease)
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
				t.Errorf("its runner was answered that the lease lasts until %s: %v", until, d)
			case !ok && (codeOf(d) != string(fault.DeploymentLeaseExpired) || d.LeaseExpiresAt != nil):
				t.Errorf("its runner was answered that the lease is lost: %v", d)
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
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		var list []*ent.Deployment
		for _, name := range []string{"a", "b", "c"} {
			list = append(list, p.Deploy(t, p.NewInstance(t, name).ID, `{"image":"web:1"}`))
			p.Claim(t, list[len(list)-1])
			clock.Advance(time.Microsecond)
		}
		raw(t, w, `UPDATE deployments SET events = '{}' WHERE id = '`+list[0].ID+`'`)
		clock.Advance(execution.DefaultLease)
		n, err := w.Deploy.Execution.ExpireLeases(t.Context())
		if n != 2 || err == nil || !strings.Contains(err.Error(), list[0].ID) {
			t.Errorf("%d expired, want 2; %v", n, err)
		}
	})
}

func TestHouseIsKeptUntilTheServerEnds(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		changes, err := w.Deploy.View.Follow(w.Acme.As(actor.Viewer), d.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantNext(t, changes, "RUNNING", 2)
		clock.Advance(execution.DefaultLease)
		ctx, cancel := context.WithCancel(t.Context())
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			w.RunHousekeeping(ctx, slog.New(slog.DiscardHandler))
		}()
		wantNext(t, changes, "FAILED", 3)
		cancel()
		<-kept
	})
}
