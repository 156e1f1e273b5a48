package deployment_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// requested makes a RUNNING deployment of the place's instance whose cancellation was requested by a developer, and
// gives its lease.
func requested(t *testing.T, w *worldtest.World, p *worldtest.Fixture) (*ent.Deployment, string) {
	t.Helper()
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	lease := p.Claim(t, d)
	d, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, lease
}

func TestACancelRequestKeepsTheInstanceBusyUntilTheProgramHasEnded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		w.Deploy.Execution.CancelTimeout = 10 * time.Minute
		source := p.Succeeded(t)
		d, lease := requested(t, w, p)
		at := clock.Now()
		if d.Status != "RUNNING" || d.CompletedAt != nil || !d.CancelRequestedAt.Equal(at) || *d.CancelRequestedBy != "developer" || d.Forced {
			t.Errorf("requested: %v", d)
		}
		clock.Advance(time.Second)
		for _, role := range []actor.Role{actor.Developer, actor.Admin} {
			unchanged(t, w, "the request again", func() {
				if again, err := w.Deploy.Execution.Cancel(w.Acme.As(role), d.ID, nil); err != nil || !cmp.Equal(d, again, whole) {
					t.Errorf("%v, %v", again, err)
				}
			})
		}
		f := refused(t, w, "a rollback meanwhile", fault.DeploymentInProgress, func() (*ent.Deployment, error) {
			return worldtest.Unwarned(w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: source.ID}))
		})
		by, _ := f.Metadata["blockedBy"].(map[string]any)
		if by["deploymentId"] != d.ID || by["cancelRequestedAt"] != at.Format(time.RFC3339Nano) || by["cancelRequestedBy"] != "developer" {
			t.Errorf("the blocker is %v", by)
		}
		// The runner is told by its next renewal and its next report.
		renewed, l, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease)
		if err != nil || renewed.CancelRequestedAt == nil || l.CancelSeconds == nil || *l.CancelSeconds != 599 {
			t.Errorf("renewed: %v under %+v, %v", renewed, l, err)
		}
		clock.Advance(500 * time.Millisecond)
		reported, l, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{})
		if err != nil || reported.CancelRequestedAt == nil || l.CancelSeconds == nil || *l.CancelSeconds != 598 {
			t.Errorf("reported: %v under %+v, %v", reported, l, err)
		}
		done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: &fault.Data{Message: "Stopped.", Description: "line 1"}, Canceled: true})
		want := &fault.Data{Code: string(fault.DeploymentCanceled), Message: "Canceled by developer.", Details: []fault.Section{
			{Title: "Last words of the program", Render: fault.RenderList, Items: []string{"Stopped.", "line 1"}},
		}}
		if err != nil || done.Status != "CANCELED" || done.Forced || !cmp.Equal(want, done.Error) {
			t.Errorf("completed: %v, %v: %s", done, err, cmp.Diff(want, done.Error))
		}
		if _, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: source.ID}); err != nil {
			t.Errorf("the instance is not free: %v", err)
		}
		if diff := cmp.Diff([]int32{1, 2, 3, 4, 5}, recordedVersions(t, w, w.Acme, d.ID)); diff != "" {
			t.Errorf("recorded versions: %s", diff)
		}
	})
}

func TestWhatHappenedWinsOverACancelRequest(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		d, lease := requested(t, w, p)
		done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
		if err != nil || done.Status != "SUCCEEDED" || done.Error != nil {
			t.Errorf("a success: %v, %v", done, err)
		}
		if i := w.Store.Client.ModuleInstance.GetX(runner, p.Instance.ID); i.LiveDeploymentID == nil || *i.LiveDeploymentID != d.ID {
			t.Errorf("it is not live: %v", i)
		}
		d, lease = requested(t, w, p)
		if done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: broken}); err != nil || done.Status != "FAILED" || codeOf(done) != broken.Code {
			t.Errorf("a failure: %v, %v", done, err)
		}
		d, lease = requested(t, w, p)
		for range 2 {
			done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Canceled: true})
			if err != nil || done.Status != "CANCELED" || codeOf(done) != string(fault.DeploymentCanceled) || done.Error.Details != nil || done.Version != 4 {
				t.Errorf("canceled: %v, %v", done, err)
			}
		}
		_ = refused(t, w, "another end", fault.DeploymentLeaseLost, func() (*ent.Deployment, error) {
			return w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
		})
		// Nobody has requested it.
		d = p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease = p.Claim(t, d)
		_ = refused(t, w, "canceled by itself", fault.DeploymentWrongState, func() (*ent.Deployment, error) {
			return w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Canceled: true})
		})
	})
}

func TestWhatNoProgramIsAtWorkOnIsCanceledAtOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for _, status := range []string{"PENDING", "RUNNING"} {
			for name, cancel := range map[string]func(string) (*ent.Deployment, error){
				"cancel": func(id string) (*ent.Deployment, error) {
					return w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), id, nil)
				},
				"force": func(id string) (*ent.Deployment, error) {
					return w.Deploy.Execution.ForceCancel(w.Acme.As(actor.Admin), id, nil)
				},
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
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		d, lease := requested(t, w, p)
		// 15 minutes and one more, less a microsecond.
		for range 4 {
			clock.Advance(4*time.Minute - time.Microsecond/4)
			if _, _, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(time.Microsecond)
		for name, call := range map[string]func() (*ent.Deployment, error){
			"renew": func() (*ent.Deployment, error) {
				d, _, err := w.Deploy.Execution.RenewLease(runner, d.ID, lease)
				return d, err
			},
			"report": func() (*ent.Deployment, error) {
				d, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{})
				return d, err
			},
		} {
			f := refused(t, w, name, fault.DeploymentLeaseLost, call)
			if f != nil && !strings.Contains(f.Message, "its cancellation was requested at") {
				t.Errorf("%s: %s", name, f.Message)
			}
		}
		// The lease holds until it runs out: the instance is busy, and its runner may still say the end.
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 0 || err != nil {
			t.Errorf("%d expired, %v", n, err)
		}
		if done, err := w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Canceled: true}); err != nil || done.Status != "CANCELED" {
			t.Errorf("%v, %v", done, err)
		}
	})
}

func TestALeaseThatRunsOutAfterACancelRequestEndsAsCanceled(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		d, _ := requested(t, w, p)
		clock.Advance(execution.DefaultLease)
		if n, err := w.Deploy.Execution.ExpireLeases(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		last := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
		if last.Status != "CANCELED" || codeOf(last) != string(fault.DeploymentCanceled) || last.Forced || last.LeaseExpiresAt != nil ||
			!strings.HasPrefix(last.Error.Message, "Canceled by developer. The runner runner did not renew its lease") {
			t.Errorf("%v", last)
		}
	})
}

func TestARequestAtOnceWithAClaimIsNotLost(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for range 10 {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			var both sync.WaitGroup
			var canceled, claimed *ent.Deployment
			both.Go(func() {
				var err error
				if canceled, err = w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				var err error
				if claimed, _, err = w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes}); err != nil {
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
