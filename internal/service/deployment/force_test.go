package deployment_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

// forced cancels a RUNNING deployment by force.
func forced(t *testing.T, w *worldtest.World, c *clock, deploymentID string) *ent.Deployment {
	t.Helper()
	if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), deploymentID, nil); err != nil {
		t.Fatal(err)
	}
	c.Advance(2 * time.Minute)
	d, err := w.Deploy.Execution.ForceCancel(w.Acme.As(actor.Admin), deploymentID, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestForceEndsAtOnceWhatHadTwoMinutesToEnd(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, admin := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Admin)
		force := func(id string) func() (*ent.Deployment, error) {
			return func() (*ent.Deployment, error) { return w.Deploy.Execution.ForceCancel(admin, id, nil) }
		}
		source := p.Succeeded(t)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		_ = refused(t, w, "without a request", fault.DeploymentWrongState, force(d.ID))
		if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
			t.Fatal(err)
		}
		from := clock.Now().Add(2 * time.Minute)
		clock.Advance(2*time.Minute - time.Microsecond)
		f := refused(t, w, "too early", fault.DeploymentWrongState, force(d.ID))
		if f != nil && f.Metadata["forceFrom"] != from.Format(time.RFC3339Nano) {
			t.Errorf("too early: %v", f.Metadata)
		}
		_ = refused(t, w, "a developer", fault.DeploymentForbidden, func() (*ent.Deployment, error) {
			return w.Deploy.Execution.ForceCancel(w.Acme.As(actor.Developer), d.ID, nil)
		})
		clock.Advance(time.Microsecond)
		done, err := force(d.ID)()
		if err != nil || done.Status != "CANCELED" || !done.Forced || codeOf(done) != string(fault.DeploymentCanceled) || done.CompletedAt == nil {
			t.Fatalf("forced: %v, %v", done, err)
		}
		_ = refused(t, w, "again", fault.DeploymentWrongState, force(d.ID))
		for name, call := range map[string]func() error{
			"renew": func() error {
				_, _, err := w.Deploy.Execution.RenewLease(w.Acme.As(actor.Runner), d.ID, lease)
				return err
			},
			"succeed": func() error {
				_, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{})
				return err
			},
			"canceled": func() error {
				_, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{Canceled: true})
				return err
			},
		} {
			if err := call(); !fault.Is(err, fault.DeploymentLeaseLost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		warns := func(when string, want bool) {
			both, err := w.Deploy.Admission.Eligibilities(w.Acme.As(actor.Developer), []string{source.ID})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []*admission.Eligibility{both[source.ID].Rollback, both[source.ID].Redeploy} {
				got := slices.ContainsFunc(e.Warnings, func(w inputprop.Warning) bool {
					return w.Rule == "forced" && strings.Contains(w.Message, d.ID)
				})
				if got != want {
					t.Errorf("%s: warnings %+v, want %t", when, e.Warnings, want)
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

func TestARenewalAtOnceWithForceHoldsNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		for range 10 {
			d, lease := requested(t, w, p)
			clock.Advance(2 * time.Minute)
			var both sync.WaitGroup
			both.Go(func() {
				if _, err := w.Deploy.Execution.ForceCancel(w.Acme.As(actor.Admin), d.ID, nil); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				if _, _, err := w.Deploy.Execution.RenewLease(w.Acme.As(actor.Runner), d.ID, lease); err != nil && !fault.Is(err, fault.DeploymentLeaseLost) {
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
