package deployment_test

import (
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

func TestEachClaimHasAGreaterFenceThanAnyBefore(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p, runner := clockOf(w), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		fence := func() int64 { return w.Store.Client.ModuleInstance.GetX(runner, p.Instance.ID).Fence }
		for i, end := range []func(d *ent.Deployment, lease string){
			func(d *ent.Deployment, lease string) {
				_, _ = w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
			},
			func(d *ent.Deployment, _ string) { forced(t, w, clock, d.ID) },
			func(d *ent.Deployment, lease string) {
				_, _ = w.Deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: broken})
			},
			func(*ent.Deployment, string) {},
		} {
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			if f := execution.FenceOf(d.Fence, d.LeaseID); f != nil {
				t.Errorf("before it is claimed its fence is %s", *f)
			}
			claimed, lease, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
			want := string(rune('1' + i))
			if err != nil || *execution.FenceOf(claimed.Fence, claimed.LeaseID) != want || lease.Fence != want || fence() != int64(i+1) {
				t.Errorf("claim %s: %v under %+v, %v; the instance has %d", want, claimed, lease, err, fence())
			}
			end(claimed, lease.ID)
		}
		other := p.NewInstance(t, "worker")
		d := p.Deploy(t, other.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		claimed := w.Store.Client.Deployment.GetX(runner, d.ID)
		if f := *execution.FenceOf(claimed.Fence, claimed.LeaseID); f != "1" {
			t.Errorf("another instance begins at %s", f)
		}
	})
}
