package deployment_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"slipway/ent"
	entapproval "slipway/ent/approval"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// raceRounds is how often each race is run.
func raceRounds() int { return testkit.Often(6, 200) }

// together calls functions at once, and returns their errors.
func together(calls ...func() error) []error {
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, call := range calls {
		all.Go(func() {
			<-begin
			errs[i] = call()
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// control is a world in which one approval is demanded, with two servers on its database.
type control struct {
	w, second *worldtest.World
	p         *worldtest.Fixture
	author    context.Context
	others    []context.Context
}

func newControl(t *testing.T, w *worldtest.World, count int32) *control {
	t.Helper()
	c := &control{w: w, second: worldtest.Another(t, w.DatabaseURL), p: w.Fixture(t, w.Acme, "web"), author: holder(t, w, w.Acme, actor.Developer, "ann")}
	for _, name := range []string{"bob", "cyd", "dan"} {
		c.others = append(c.others, holder(t, w, w.Acme, actor.Developer, name))
	}
	demand(t, w, c.p, approvals(count))
	return c
}

// waits makes a deployment that waits at an instance.
func (c *control) waits(t *testing.T, instanceID, image string) *ent.Deployment {
	t.Helper()
	in := newOf(c.w, c.p, image)
	in.InstanceID, in.Data = instanceID, nil
	d, _, err := c.w.Deploy.Propose.Create(c.author, in)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// activeOf wants an instance to have at most one deployment in progress, and returns how many there are.
func (c *control) activeOf(t *testing.T, instanceID string) int {
	t.Helper()
	n := c.w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(instanceID), store.IsInProgress).CountX(c.author)
	if n > 1 {
		t.Errorf("%d deployments of %s are in progress", n, instanceID)
	}
	return n
}

func unexpected(errs []error, allowed ...fault.Code) error {
	for _, err := range errs {
		ok := err == nil
		for _, code := range allowed {
			ok = ok || fault.Is(err, code)
		}
		if !ok {
			return err
		}
	}
	return nil
}

func TestTheLastApprovalsAtOnceStartOnce(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		c := newControl(t, w, 2)
		for i := range raceRounds() {
			instance := c.p.NewInstance(t, fmt.Sprint("last-", i)).ID
			d := c.waits(t, instance, "web:1")
			approve := func(s *worldtest.World, by context.Context) func() error {
				return func() error {
					_, err := s.Deploy.Waiting.Approve(by, d.ID, nil, true)
					return err
				}
			}
			errs := together(approve(c.w, c.others[0]), approve(c.second, c.others[1]), approve(c.second, c.others[2]))
			if err := unexpected(errs, fault.DeploymentWrongState); err != nil {
				t.Fatal(err)
			}
			if n := c.activeOf(t, instance); n != 1 {
				t.Errorf("round %d: %d started", i, n)
			}
			given := 0
			for _, err := range errs {
				if err == nil {
					given++
				}
			}
			if kept := w.Store.Client.Approval.Query().Where(entapproval.DeploymentID(d.ID)).CountX(c.author); kept != given {
				t.Errorf("round %d: %d approvals kept of %d that were taken", i, kept, given)
			}
		}
	})
}

func TestAnApprovalAndARejectionAtOnceComeToOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		c := newControl(t, w, 1)
		for i := range raceRounds() {
			instance := c.p.NewInstance(t, fmt.Sprint("against-", i)).ID
			d := c.waits(t, instance, "web:1")
			errs := together(
				func() error {
					_, err := c.w.Deploy.Waiting.Approve(c.others[0], d.ID, nil, true)
					return err
				},
				func() error {
					_, err := c.second.Deploy.Waiting.Reject(c.others[1], d.ID, nil)
					return err
				},
			)
			if err := unexpected(errs, fault.DeploymentRejected, fault.DeploymentWrongState); err != nil {
				t.Fatal(err)
			}
			now := w.Store.Client.Deployment.GetX(c.author, d.ID)
			rejected := now.Error != nil && now.Error.Code == string(fault.DeploymentRejected)
			if started := c.activeOf(t, instance) == 1; started == rejected {
				t.Errorf("round %d: %s, rejected %v: %v", i, now.Status, rejected, errs)
			}
		}
	})
}

func TestAStartBesideASuccessIsSupersededOrBlocked(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		c := newControl(t, w, 1)
		for i := range raceRounds() {
			instance := c.p.NewInstance(t, fmt.Sprint("beside-", i)).ID
			first := c.waits(t, instance, "web:1")
			if _, err := c.w.Deploy.Waiting.Approve(c.others[0], first.ID, nil, true); err != nil {
				t.Fatal(err)
			}
			lease := c.p.Claim(t, first)
			d := c.waits(t, instance, "web:2")
			if _, err := c.w.Deploy.Waiting.Approve(c.others[0], d.ID, nil, false); err != nil {
				t.Fatal(err)
			}
			errs := together(
				func() error {
					_, err := c.w.Deploy.Execution.End(w.Acme.As(actor.Runner), first.ID, lease, execution.Completion{})
					return err
				},
				func() error {
					_, _, err := c.second.Deploy.Waiting.Start(c.author, waiting.Start{DeploymentID: d.ID})
					return err
				},
				func() error { // begins to wait while the other succeeds
					in := newOf(c.w, c.p, "web:3")
					in.InstanceID, in.Data = instance, nil
					_, _, err := c.second.Deploy.Propose.Create(c.author, in)
					return err
				},
			)
			if err := unexpected(errs, fault.DeploymentInProgress, fault.DeploymentSuperseded); err != nil {
				t.Fatal(err)
			}
			if errs[0] != nil || c.activeOf(t, instance) != 0 {
				t.Errorf("round %d: %v", i, errs)
			}
			for _, left := range w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(instance), store.IsAwaiting).AllX(c.author) {
				if _, err := c.w.Deploy.Waiting.Approve(c.others[0], left.ID, nil, true); err != nil {
					t.Fatal(err)
				}
				if now := w.Store.Client.Deployment.GetX(c.author, left.ID); now.Status == entdeployment.StatusPENDING && *left.ReplacesID != first.ID {
					t.Errorf("round %d: started though it replaces %v", i, left.ReplacesID)
				}
			}
			for _, left := range w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(instance), entdeployment.CompletedAtIsNil()).AllX(c.author) {
				w.Cancel(t, w.Acme, left.ID)
			}
		}
	})
}

func TestStartsAndCreationsAtOnceLeaveOneInProgress(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		c := newControl(t, w, 1)
		boss := holder(t, w, w.Acme, actor.Admin, "boss")
		for i := range raceRounds() {
			instance := c.p.NewInstance(t, fmt.Sprint("with-", i)).ID
			var calls []func() error
			for n := range 2 {
				d := c.waits(t, instance, fmt.Sprint("web:", n))
				if _, err := c.w.Deploy.Waiting.Approve(c.others[0], d.ID, nil, false); err != nil {
					t.Fatal(err)
				}
				calls = append(calls, func() error {
					_, _, err := c.second.Deploy.Waiting.Start(c.author, waiting.Start{DeploymentID: d.ID})
					return err
				})
			}
			calls = append(calls, func() error {
				in := newOf(c.w, c.p, "web:9")
				in.InstanceID, in.Data, in.OverrideReason = instance, nil, new("it cannot wait for that")
				_, _, err := c.w.Deploy.Propose.Create(boss, in)
				return err
			})
			if err := unexpected(together(calls...), fault.DeploymentInProgress); err != nil {
				t.Fatal(err)
			}
			if n := c.activeOf(t, instance); n != 1 {
				t.Errorf("round %d: %d in progress", i, n)
			}
			for _, left := range w.Store.Client.Deployment.Query().Where(entdeployment.ModuleInstanceID(instance), entdeployment.CompletedAtIsNil()).AllX(c.author) {
				w.Cancel(t, w.Acme, left.ID)
			}
		}
	})
}
