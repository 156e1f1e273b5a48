package deployment_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/catalog"
	"slipway/internal/deployment"
	"slipway/internal/fault"
	"slipway/internal/worldtest"
)

// requested makes a RUNNING deployment of the place's instance whose cancellation was requested by a developer, and
// gives its lease.
func requested(t *testing.T, w *worldtest.World, p *worldtest.Place) (*ent.Deployment, string) {
	t.Helper()
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	lease := p.Claim(t, d)
	d, err := w.Deploy.Cancel(w.Acme.As(actor.Developer), d.ID)
	if err != nil {
		t.Fatal(err)
	}
	return d, lease
}

// forced cancels a RUNNING deployment by force.
func forced(t *testing.T, w *worldtest.World, c *clock, deploymentID string) *ent.Deployment {
	t.Helper()
	if _, err := w.Deploy.Cancel(w.Acme.As(actor.Developer), deploymentID); err != nil {
		t.Fatal(err)
	}
	c.pass(2 * time.Minute)
	d, err := w.Deploy.ForceCancel(w.Acme.As(actor.Admin), deploymentID)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestACancelRequestKeepsTheInstanceBusyUntilTheProgramHasEnded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Place(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		w.Deploy.CancelTimeout = 10 * time.Minute
		source := p.Succeeded(t)
		d, lease := requested(t, w, p)
		at := clock.now()
		if d.Status != "RUNNING" || d.CompletedAt != nil || !d.CancelRequestedAt.Equal(at) || *d.CancelRequestedBy != "developer" || d.Forced {
			t.Errorf("requested: %v", d)
		}
		clock.pass(time.Second)
		for _, role := range []actor.Role{actor.Developer, actor.Admin} {
			unchanged(t, w, "the request again", func() {
				if again, err := w.Deploy.Cancel(w.Acme.As(role), d.ID); err != nil || !cmp.Equal(d, again, whole) {
					t.Errorf("%v, %v", again, err)
				}
			})
		}
		f := refused(t, w, "a rollback meanwhile", fault.DeploymentInProgress, func() (*ent.Deployment, error) {
			return w.Deploy.Rollback(w.Acme.As(actor.Developer), deployment.Replay{SourceID: source.ID})
		})
		by, _ := f.Metadata["blockedBy"].(map[string]any)
		if by["deploymentId"] != d.ID || by["cancelRequestedAt"] != at.Format(time.RFC3339Nano) || by["cancelRequestedBy"] != "developer" {
			t.Errorf("the blocker is %v", by)
		}
		// The runner is told by its next renewal and its next report.
		renewed, l, err := w.Deploy.RenewLease(runner, d.ID, lease)
		if err != nil || renewed.CancelRequestedAt == nil || l.CancelSeconds == nil || *l.CancelSeconds != 599 {
			t.Errorf("renewed: %v under %+v, %v", renewed, l, err)
		}
		clock.pass(500 * time.Millisecond)
		reported, l, err := w.Deploy.Report(runner, d.ID, lease, deployment.Report{})
		if err != nil || reported.CancelRequestedAt == nil || l.CancelSeconds == nil || *l.CancelSeconds != 598 {
			t.Errorf("reported: %v under %+v, %v", reported, l, err)
		}
		done, err := w.Deploy.CompleteCanceled(runner, d.ID, lease, &fault.Data{Message: "Stopped.", Description: "line 1"})
		want := &fault.Data{Code: string(fault.DeploymentCanceled), Message: "Canceled by developer.", Details: []fault.Section{
			{Title: "Last words of the program", Render: fault.RenderList, Items: []string{"Stopped.", "line 1"}},
		}}
		if err != nil || done.Status != "CANCELED" || done.Forced || !cmp.Equal(want, done.Error) {
			t.Errorf("completed: %v, %v: %s", done, err, cmp.Diff(want, done.Error))
		}
		if _, err := w.Deploy.Rollback(w.Acme.As(actor.Developer), deployment.Replay{SourceID: source.ID}); err != nil {
			t.Errorf("the instance is not free: %v", err)
		}
		if diff := cmp.Diff([]int32{1, 2, 3, 4, 5}, told(t, w, w.Acme, d.ID)); diff != "" {
			t.Errorf("told: %s", diff)
		}
	})
}

func TestWhatHappenedWinsOverACancelRequest(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Place(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		d, lease := requested(t, w, p)
		done, err := w.Deploy.Complete(runner, d.ID, lease, nil)
		if err != nil || done.Status != "SUCCEEDED" || done.Error != nil {
			t.Errorf("a success: %v, %v", done, err)
		}
		if i := w.Store.Client.ModuleInstance.GetX(runner, p.Instance.ID); i.LiveDeploymentID == nil || *i.LiveDeploymentID != d.ID {
			t.Errorf("it is not live: %v", i)
		}
		d, lease = requested(t, w, p)
		if done, err := w.Deploy.Complete(runner, d.ID, lease, broken); err != nil || done.Status != "FAILED" || codeOf(done) != broken.Code {
			t.Errorf("a failure: %v, %v", done, err)
		}
		d, lease = requested(t, w, p)
		for range 2 {
			done, err := w.Deploy.CompleteCanceled(runner, d.ID, lease, nil)
			if err != nil || done.Status != "CANCELED" || codeOf(done) != string(fault.DeploymentCanceled) || done.Error.Details != nil || done.Version != 4 {
				t.Errorf("canceled: %v, %v", done, err)
			}
		}
		_ = refused(t, w, "another end", fault.DeploymentLeaseLost, func() (*ent.Deployment, error) { return w.Deploy.Complete(runner, d.ID, lease, nil) })
		// Nobody has requested it.
		d = p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease = p.Claim(t, d)
		_ = refused(t, w, "canceled by itself", fault.DeploymentWrongState, func() (*ent.Deployment, error) {
			return w.Deploy.CompleteCanceled(runner, d.ID, lease, nil)
		})
	})
}

func TestWhatNoProgramIsAtWorkOnIsCanceledAtOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Place(t, w.Acme, "web")
		for _, status := range []string{"PENDING", "RUNNING"} {
			for name, cancel := range map[string]func(string) (*ent.Deployment, error){
				"cancel": func(id string) (*ent.Deployment, error) { return w.Deploy.Cancel(w.Acme.As(actor.Developer), id) },
				"force":  func(id string) (*ent.Deployment, error) { return w.Deploy.ForceCancel(w.Acme.As(actor.Admin), id) },
			} {
				d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
				if status == "RUNNING" {
					raw(t, w, `UPDATE deployments SET status = 'RUNNING' WHERE id = '`+d.ID+`'`)
				}
				if done, err := cancel(d.ID); err != nil || done.Status != "CANCELED" || done.CancelRequestedAt != nil || done.Forced {
					t.Errorf("%s, %s: %v, %v", status, name, done, err)
				}
			}
		}
	})
}

func TestRenewalsOfACanceledProgramEndAMinuteAfterItsTime(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Place(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		d, lease := requested(t, w, p)
		// 15 minutes and one more, less a microsecond.
		for range 4 {
			clock.pass(4*time.Minute - time.Microsecond/4)
			if _, _, err := w.Deploy.RenewLease(runner, d.ID, lease); err != nil {
				t.Fatal(err)
			}
		}
		clock.pass(time.Microsecond)
		for name, call := range map[string]func() (*ent.Deployment, error){
			"renew": func() (*ent.Deployment, error) { d, _, err := w.Deploy.RenewLease(runner, d.ID, lease); return d, err },
			"report": func() (*ent.Deployment, error) {
				d, _, err := w.Deploy.Report(runner, d.ID, lease, deployment.Report{})
				return d, err
			},
		} {
			f := refused(t, w, name, fault.DeploymentLeaseLost, call)
			if f != nil && !strings.Contains(f.Message, "its cancellation was requested at") {
				t.Errorf("%s: %s", name, f.Message)
			}
		}
		// The lease holds until it runs out: the instance is busy, and its runner may still say the end.
		if n, err := w.Deploy.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
		if done, err := w.Deploy.CompleteCanceled(runner, d.ID, lease, nil); err != nil || done.Status != "CANCELED" {
			t.Errorf("%v, %v", done, err)
		}
	})
}

func TestALeaseThatRunsOutAfterACancelRequestEndsAsCanceled(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Place(t, w.Acme, "web")
		d, _ := requested(t, w, p)
		clock.pass(deployment.DefaultLease)
		if n, err := w.Deploy.ExpireLeases(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		last := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
		if last.Status != "CANCELED" || codeOf(last) != string(fault.DeploymentCanceled) || last.Forced || last.LeaseExpiresAt != nil ||
			!strings.HasPrefix(last.Error.Message, "Canceled by developer. The runner runner did not renew its lease") {
			t.Errorf("%v", last)
		}
	})
}

func TestForceEndsAtOnceWhatHadTwoMinutesToEnd(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, admin := clockOf(w), w.Place(t, w.Acme, "web"), w.Acme.As(actor.Admin)
		force := func(id string) func() (*ent.Deployment, error) {
			return func() (*ent.Deployment, error) { return w.Deploy.ForceCancel(admin, id) }
		}
		source := p.Succeeded(t)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		_ = refused(t, w, "without a request", fault.DeploymentWrongState, force(d.ID))
		if _, err := w.Deploy.Cancel(w.Acme.As(actor.Developer), d.ID); err != nil {
			t.Fatal(err)
		}
		from := clock.now().Add(2 * time.Minute)
		clock.pass(2*time.Minute - time.Microsecond)
		f := refused(t, w, "too early", fault.DeploymentWrongState, force(d.ID))
		if f != nil && f.Metadata["forceFrom"] != from.Format(time.RFC3339Nano) {
			t.Errorf("too early: %v", f.Metadata)
		}
		_ = refused(t, w, "a developer", fault.DeploymentForbidden, func() (*ent.Deployment, error) {
			return w.Deploy.ForceCancel(w.Acme.As(actor.Developer), d.ID)
		})
		clock.pass(time.Microsecond)
		done, err := force(d.ID)()
		if err != nil || done.Status != "CANCELED" || !done.Forced || codeOf(done) != string(fault.DeploymentCanceled) || done.CompletedAt == nil {
			t.Fatalf("forced: %v, %v", done, err)
		}
		_ = refused(t, w, "again", fault.DeploymentWrongState, force(d.ID))
		for name, call := range map[string]func() error{
			"renew":   func() error { _, _, err := w.Deploy.RenewLease(w.Acme.As(actor.Runner), d.ID, lease); return err },
			"succeed": func() error { _, err := w.Deploy.Complete(w.Acme.As(actor.Runner), d.ID, lease, nil); return err },
			"canceled": func() error {
				_, err := w.Deploy.CompleteCanceled(w.Acme.As(actor.Runner), d.ID, lease, nil)
				return err
			},
		} {
			if err := call(); !fault.Is(err, fault.DeploymentLeaseLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		warns := func(when string, want bool) {
			both, err := w.Deploy.Eligibilities(w.Acme.As(actor.Developer), []string{source.ID})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []*deployment.Eligibility{both[source.ID].Rollback, both[source.ID].Redeploy} {
				if got := e.Warning != nil && strings.Contains(*e.Warning, d.ID); got != want {
					t.Errorf("%s: warning %v, want %t", when, e.Warning, want)
				}
			}
		}
		warns("after it", true)
		p.Failed(t)
		warns("after a failure", true)
		p.Succeeded(t)
		warns("after a success", false)
	})
}

func TestARequestAtOnceWithAClaimIsNotLost(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Place(t, w.Acme, "web")
		for range 10 {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			var both sync.WaitGroup
			var canceled, claimed *ent.Deployment
			both.Go(func() {
				var err error
				if canceled, err = w.Deploy.Cancel(w.Acme.As(actor.Developer), d.ID); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				var err error
				if claimed, _, err = w.Deploy.Claim(w.Acme.As(actor.Runner), deployment.Claim{Kinds: catalog.Kinds}); err != nil {
					t.Error(err)
				}
			})
			both.Wait()
			last := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
			switch {
			case canceled == nil:
				t.Fatal("it was not canceled")
			case claimed == nil && last.Status != "CANCELED", claimed != nil && (last.Status != "RUNNING" || last.CancelRequestedAt == nil):
				t.Errorf("claimed %v, canceled %v, is %v", claimed, canceled, last)
			}
			if last.CompletedAt == nil {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

func TestARenewalAtOnceWithForceHoldsNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Place(t, w.Acme, "web")
		for range 10 {
			d, lease := requested(t, w, p)
			clock.pass(2 * time.Minute)
			var both sync.WaitGroup
			both.Go(func() {
				if _, err := w.Deploy.ForceCancel(w.Acme.As(actor.Admin), d.ID); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				if _, _, err := w.Deploy.RenewLease(w.Acme.As(actor.Runner), d.ID, lease); err != nil && !fault.Is(err, fault.DeploymentLeaseLost) {
					t.Error(err)
				}
			})
			both.Wait()
			if last := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID); last.Status != "CANCELED" || last.LeaseExpiresAt != nil {
				t.Errorf("%v", last)
			}
		}
	})
}

func TestEachClaimHasAGreaterFenceThanAnyBefore(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Place(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		fence := func() int64 { return w.Store.Client.ModuleInstance.GetX(runner, p.Instance.ID).Fence }
		for i, end := range []func(d *ent.Deployment, lease string){
			func(d *ent.Deployment, lease string) { _, _ = w.Deploy.Complete(runner, d.ID, lease, nil) },
			func(d *ent.Deployment, _ string) { forced(t, w, clock, d.ID) },
			func(d *ent.Deployment, lease string) { _, _ = w.Deploy.Complete(runner, d.ID, lease, broken) },
			func(*ent.Deployment, string) {},
		} {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			if f := deployment.FenceOf(d); f != nil {
				t.Errorf("before it is claimed its fence is %s", *f)
			}
			claimed, lease, err := w.Deploy.Claim(runner, deployment.Claim{Kinds: catalog.Kinds})
			want := string(rune('1' + i))
			if err != nil || *deployment.FenceOf(claimed) != want || lease.Fence != want || fence() != int64(i+1) {
				t.Errorf("claim %s: %v under %+v, %v; the instance has %d", want, claimed, lease, err, fence())
			}
			end(claimed, lease.ID)
		}
		other := p.NewInstance(t, "worker")
		d := p.Deploy(t, other.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		if f := *deployment.FenceOf(w.Store.Client.Deployment.GetX(runner, d.ID)); f != "1" {
			t.Errorf("another instance begins at %s", f)
		}
	})
}
