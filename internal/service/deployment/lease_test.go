package deployment_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

func TestClaimGivesALeaseAndTheSameDeploymentUnderItAgain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		first := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		second := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
		claim := execution.Claim{Kinds: module.DeploymentTypes, LeaseID: new("my_lease-1")}
		d, lease, err := w.Deploy.Execution.Claim(runner, claim)
		want := &execution.Lease{ID: "my_lease-1", ExpiresAt: clock.Now().Add(5 * time.Minute), Seconds: 300, Fence: "1"}
		if diff := cmp.Diff(want, lease); err != nil || d.ID != first.ID || *d.Runner != "runner" || diff != "" {
			t.Fatalf("claimed %v, %v: %s", d, err, diff)
		}
		clock.Advance(10 * time.Second)
		unchanged(t, w, "the same claim again", func() {
			again, lease, err := w.Deploy.Execution.Claim(runner, claim)
			if want.Seconds = 290; err != nil || !cmp.Equal(d, again, whole) || !cmp.Equal(want, lease) {
				t.Errorf("claimed %v under %v, %v", again, lease, err)
			}
		})
		other, drawn, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
		if err != nil || other.ID != second.ID || !strings.HasPrefix(drawn.ID, "lease_") {
			t.Errorf("another claim: %v under %v, %v", other, drawn, err)
		}
		// A lease is its organization's own.
		theirs := w.Fixture(t, w.Globex, "web")
		globex := theirs.Deploy(t, theirs.Instance.ID, `{"image":"web:1"}`)
		if d, _, err := w.Deploy.Execution.Claim(w.Globex.As(actor.Runner), claim); err != nil || d.ID != globex.ID {
			t.Errorf("another organization's claim: %v, %v", d, err)
		}
	})
}

func TestClaimsAtOnceUnderOneLeaseGetOneDeployment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		for i := range 6 {
			p.Deploy(t, p.NewInstance(t, fmt.Sprint("i", i)).ID, `{"image":"web:1"}`)
		}
		for round := range 3 {
			var all sync.WaitGroup
			var got [8]string
			for i := range got {
				all.Go(func() {
					d, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: new(fmt.Sprint("same-lease-", round))})
					if err != nil {
						t.Error(err)
					} else if d != nil {
						got[i] = d.ID
					}
				})
			}
			all.Wait()
			// While another claim is at it, a claim may find none; it is made again.
			last, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: new(fmt.Sprint("same-lease-", round))})
			if err != nil || last == nil {
				t.Fatalf("%v, %v", last, err)
			}
			for _, id := range got {
				if id != "" && id != last.ID {
					t.Errorf("the claims got %q", got)
					break
				}
			}
		}
		running := w.Store.Client.Deployment.Query().Where(entdeployment.StatusEQ("RUNNING")).CountX(runner)
		if running != 3 {
			t.Errorf("%d are RUNNING, want 3", running)
		}
	})
}

func TestLeaseIDsOfAnotherFormAreRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		for _, text := range []string{"", "seven77", strings.Repeat("a", 101), "has space", "new\nline", "12345678\n", "ümlaut-ümlaut", "a.b.c.d.e", "12345678\x00"} {
			f := refused(t, w, text, fault.RequestInvalid, func() (*ent.Deployment, error) {
				d, _, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes, LeaseID: &text})
				return d, err
			})
			wantViolations(t, f, "/leaseId")
		}
		for _, text := range []string{"eight888", strings.Repeat("a", 100)} {
			if _, _, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes, LeaseID: &text}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// wantViolations wants a refusal to name exactly these places.
func wantViolations(t *testing.T, f *fault.Error, pointers ...string) {
	t.Helper()
	if f == nil {
		return
	}
	var got []string
	for _, v := range f.Violations {
		got = append(got, v.Pointer)
		if v.Message == "" || v.Rule == "" {
			t.Errorf("%s: rule %q, message %q", v.Pointer, v.Rule, v.Message)
		}
	}
	if diff := cmp.Diff(pointers, got); diff != "" {
		t.Errorf("violations, want (-), got (+): %s", diff)
	}
}

func TestRenewalMakesTheLeaseLastAndIsNoChange(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		w.Deploy.Execution.LeaseTime = 45 * time.Second
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		before := recorded(t, w)
		for range 3 {
			// As late as may be.
			clock.Advance(45*time.Second - time.Microsecond)
			renewed, l, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease)
			want := &execution.Lease{ID: lease, ExpiresAt: clock.Now().Add(45 * time.Second), Seconds: 45, Fence: "1"}
			if diff := cmp.Diff(want, l); err != nil || renewed.Status != "RUNNING" || diff != "" {
				t.Fatalf("%v, %v: %s", renewed, err, diff)
			}
		}
		ignoreLease := cmpopts.IgnoreFields(ent.Deployment{}, "LeaseExpiresAt")
		if diff := cmp.Diff(before, recorded(t, w), whole, ignoreLease); diff != "" {
			t.Errorf("the renewals changed:\n%s", diff)
		}
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("%d renewed leases ran out, %v", n, err)
		}
	})
}

func TestRolesOtherThanRunnersRenewNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		renew := func(ctx context.Context, id string) func() (*ent.Deployment, error) {
			return func() (*ent.Deployment, error) {
				d, _, err := w.Deploy.Execution.RenewLease(ctx, id, lease)
				return d, err
			}
		}
		for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Admin} {
			_ = refused(t, w, string(role), fault.DeploymentForbidden, renew(w.Acme.As(role), d.ID))
			_ = refused(t, w, string(role)+", absent", fault.DeploymentNotFound, renew(w.Acme.As(role), id.New(id.Deployment)))
		}
		_ = refused(t, w, "another organization's", fault.DeploymentNotFound, renew(w.Globex.As(actor.Runner), d.ID))
		_ = refused(t, w, "nobody's", fault.RequestUnauthenticated, renew(actor.With(t.Context(), actor.Anonymous()), d.ID))
	})
}

// lost are the ways to lose a lease: each takes a RUNNING deployment and its lease, and returns the lease
// that the runner names.
var lost = map[string]func(t *testing.T, w *worldtest.World, c *clock, d *ent.Deployment, lease string) string{
	"wrong": func(*testing.T, *worldtest.World, *clock, *ent.Deployment, string) string { return "another-lease" },
	"none":  func(*testing.T, *worldtest.World, *clock, *ent.Deployment, string) string { return "" },
	"prefix": func(_ *testing.T, _ *worldtest.World, _ *clock, _ *ent.Deployment, l string) string {
		return l[:len(l)-1]
	},
	"expired": func(_ *testing.T, _ *worldtest.World, c *clock, _ *ent.Deployment, l string) string {
		c.Advance(execution.DefaultLease)
		return l
	},
	"swept": func(t *testing.T, w *worldtest.World, c *clock, _ *ent.Deployment, l string) string {
		c.Advance(execution.DefaultLease)
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		return l
	},
	"canceled": func(t *testing.T, w *worldtest.World, _ *clock, d *ent.Deployment, l string) string {
		w.Cancel(t, w.Acme, d.ID)
		return l
	},
	"forced": func(t *testing.T, w *worldtest.World, c *clock, d *ent.Deployment, l string) string {
		forced(t, w, c, d.ID)
		return l
	},
	"succeeded": func(t *testing.T, w *worldtest.World, _ *clock, d *ent.Deployment, l string) string {
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, l, execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		return l
	},
	"failed": func(t *testing.T, w *worldtest.World, _ *clock, d *ent.Deployment, l string) string {
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, l, execution.Completion{Failure: broken}); err != nil {
			t.Fatal(err)
		}
		return l
	},
}

var broken = &fault.Data{Code: string(fault.DeploymentFailed), Message: "The task did not start."}

func TestWhatIsDoneUnderALostLeaseIsRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner := clockOf(w), w.Acme.As(actor.Runner)
		p := w.Fixture(t, w.Acme, "web")
		for way, lose := range lost {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			held := p.Claim(t, d)
			lease := lose(t, w, clock, d, held)
			status := string(w.Store.Client.Deployment.GetX(runner, d.ID).Status)
			calls := map[string]func() (*ent.Deployment, error){
				"renew": func() (*ent.Deployment, error) {
					d, _, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease)
					return d, err
				},
				"report": func() (*ent.Deployment, error) {
					d, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{Data: strictjson.MustParse(`{"detectedVia":"poll"}`)})
					return d, err
				},
				"succeed": func() (*ent.Deployment, error) {
					return w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
				},
				"fail": func() (*ent.Deployment, error) {
					return w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: broken})
				},
				"claim": func() (*ent.Deployment, error) {
					d, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, LeaseID: &held})
					return d, err
				},
			}
			switch way {
			case "succeeded":
				delete(calls, "succeed")
			case "failed":
				delete(calls, "fail")
			case "wrong", "none", "prefix":
				delete(calls, "claim")
			}
			for name, call := range calls {
				f := refused(t, w, way+": "+name, fault.DeploymentLeaseLost, call)
				if want := map[string]any{"deploymentId": d.ID, "status": status}; f != nil && !cmp.Equal(want, f.Metadata) {
					t.Errorf("%s: %s: metadata %v, want %v", way, name, f.Metadata, want)
				}
			}
			if _, err := w.Deploy.Execution.End(runner, d.ID, held, execution.Completion{Failure: broken}); err != nil {
				_, _ = w.Deploy.Execution.ExpireLeases(t.Context())
			}
		}
	})
}

func TestAnEndMayBeSaidAgain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner := clockOf(w), w.Acme.As(actor.Runner)
		p := w.Fixture(t, w.Acme, "web")
		for _, failure := range []*fault.Data{nil, broken} {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			lease := p.Claim(t, d)
			done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: failure})
			if err != nil {
				t.Fatal(err)
			}
			// Long after the lease would have run out, and when another is live.
			clock.Advance(time.Hour)
			p.Succeeded(t)
			unchanged(t, w, "the end again", func() {
				again, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: failure})
				if err != nil || !cmp.Equal(done, again, whole) {
					t.Errorf("%v, %v", again, err)
				}
			})
		}
	})
}
