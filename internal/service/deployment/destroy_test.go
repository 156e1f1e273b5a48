package deployment_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

var bothActions = []state.Action{state.Apply, state.DestroyAction}

// destroying asks for a destroy of the place's instance.
func destroying(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	d, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: p.Instance.ID})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// claimDestroy claims a destroy, and returns its lease.
func claimDestroy(t *testing.T, w *worldtest.World, d *ent.Deployment) string {
	t.Helper()
	claimed, lease, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes, Actions: bothActions})
	if err != nil || claimed == nil || claimed.ID != d.ID {
		t.Fatalf("%v, %v, want %s", claimed, err, d.ID)
	}
	return lease.ID
}

func TestADestroyLeavesNothingLiveAndARollbackBringsItBack(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		live := p.Succeeded(t)
		if _, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), *live.ReleaseID, "bad", nil); err != nil {
			t.Fatal(err)
		}
		d := destroying(t, w, p)
		if d.TriggerSource != state.TriggerDestroy || *d.ReleaseID != *live.ReleaseID || state.ActionOf(d.TriggerSource) != state.DestroyAction {
			t.Fatalf("%+v", d)
		}
		done, err := w.Deploy.Execution.End(runner, d.ID, claimDestroy(t, w, d), execution.Completion{})
		i := w.Store.Client.ModuleInstance.GetX(runner, p.Instance.ID)
		if err != nil || done.Status != entdeployment.StatusSUCCEEDED || i.LiveDeploymentID != nil || i.DestroyedAt == nil || !i.DestroyedAt.Equal(*done.CompletedAt) {
			t.Fatalf("%v, %v: %+v", done, err, i)
		}
		_, _, err = w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: p.Instance.ID})
		refusedAs(t, err, fault.ModuleInstanceNothingLive)
		developer := w.Acme.As(actor.Developer)
		_, _, err = w.Deploy.Propose.Redeploy(developer, propose.Replay{SourceID: d.ID})
		refusedAs(t, err, fault.DeploymentNotReplayable)
		_, _, err = w.Deploy.Propose.Rollback(developer, propose.Replay{SourceID: d.ID})
		refusedAs(t, err, fault.DeploymentNotReplayable)
		if _, err := w.Deploy.Releases.UnquarantineRelease(w.Acme.As(actor.Admin), *live.ReleaseID); err != nil {
			t.Fatal(err)
		}
		back, _, err := w.Deploy.Propose.Rollback(developer, propose.Replay{SourceID: live.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, back, nil)
		if i = w.Store.Client.ModuleInstance.GetX(runner, p.Instance.ID); *i.LiveDeploymentID != back.ID || i.DestroyedAt != nil {
			t.Errorf("after the rollback: %+v", i)
		}
	})
}

// A program that does not know of destroys never gets one.
func TestADestroyIsForRunnersThatKnowOfIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		p.Succeeded(t)
		d := destroying(t, w, p)
		claim := func(actions []state.Action) *ent.Deployment {
			claimed, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, Actions: actions})
			if err != nil {
				t.Fatal(err)
			}
			return claimed
		}
		for _, actions := range [][]state.Action{nil, {state.Apply}} {
			if claimed := claim(actions); claimed != nil {
				t.Errorf("%v got %s", actions, claimed.TriggerSource)
			}
		}
		other := p.Deploy(t, p.NewInstance(t, "other").ID, `{"image":"web:1"}`)
		if claimed := claim([]state.Action{state.DestroyAction}); claimed == nil || claimed.ID != d.ID {
			t.Errorf("who only destroys got %v", claimed)
		}
		if claimed := claim([]state.Action{state.DestroyAction}); claimed != nil {
			t.Errorf("who only destroys got %s", claimed.TriggerSource)
		}
		if claimed := claim(nil); claimed == nil || claimed.ID != other.ID {
			t.Errorf("who applies got %v", claimed)
		}
		for _, actions := range [][]state.Action{{}, {state.Apply, state.Apply, state.Apply}} {
			_, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes, Actions: actions})
			refusedAs(t, err, fault.RequestInvalid)
		}
	})
}

func TestADestroyThatDoesNotEndWellIsDrift(t *testing.T) {
	t.Parallel()
	type end func(t *testing.T, w *worldtest.World, c *clock, d *ent.Deployment, lease string)
	for name, c := range map[string]struct {
		end  end
		want entdeployment.Status
	}{
		"failed": {func(t *testing.T, w *worldtest.World, _ *clock, d *ent.Deployment, lease string) {
			if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{Failure: broken}); err != nil {
				t.Error(err)
			}
		}, entdeployment.StatusFAILED},
		"canceled": {func(t *testing.T, w *worldtest.World, _ *clock, d *ent.Deployment, lease string) {
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
				t.Error(err)
			}
			if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{Canceled: true}); err != nil {
				t.Error(err)
			}
		}, entdeployment.StatusCANCELED},
		"forced": {func(t *testing.T, w *worldtest.World, c *clock, d *ent.Deployment, _ string) { forced(t, w, c, d.ID) }, entdeployment.StatusCANCELED},
		"expired": {func(t *testing.T, w *worldtest.World, c *clock, _ *ent.Deployment, _ string) {
			c.Advance(6 * time.Minute)
			if n, err := w.Deploy.Execution.ExpireLeases(context.Background()); n != 1 || err != nil {
				t.Errorf("%d expired, %v", n, err)
			}
		}, entdeployment.StatusFAILED},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
				clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
				b := &bus{w, w.Deploy, "destroy"}
				live := p.Succeeded(t)
				d := destroying(t, w, p)
				c.end(t, w, clock, d, claimDestroy(t, w, d))
				now := w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID)
				if drift := b.driftOf(t, p.Instance.ID); now.Status != c.want || b.liveOf(p.Instance.ID) != live.ID ||
					drift != "DESTROY_FAILED "+stamp(now.CompletedAt)+" "+d.ID {
					t.Errorf("%s, live %s, drift %s", now.Status, b.liveOf(p.Instance.ID), drift)
				}
				again := destroying(t, w, p)
				if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), again.ID, claimDestroy(t, w, again), execution.Completion{}); err != nil || b.driftOf(t, p.Instance.ID) != "none" {
					t.Errorf("destroyed then: %v, %s", err, b.driftOf(t, p.Instance.ID))
				}
			})
		})
	}
}

func TestADestroyThatNobodyHasClaimedIsCanceledWithoutATrace(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		b, live := &bus{w, w.Deploy, "destroy"}, p.Succeeded(t)
		d := destroying(t, w, p)
		_, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: p.Instance.ID})
		refusedAs(t, err, fault.DeploymentInProgress)
		if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
			t.Fatal(err)
		}
		if drift := b.driftOf(t, p.Instance.ID); drift != "none" || b.liveOf(p.Instance.ID) != live.ID {
			t.Errorf("drift %s, live %s", drift, b.liveOf(p.Instance.ID))
		}
	})
}

// What is immutable is bound no more by what was destroyed.
func TestADestroyForgetsWhatIsImmutable(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, admin := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Admin)
		v, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{
			DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform,
			Inputs: strictjson.MustParse(`[{"id":"host","type":"string","label":"Host","immutable":true}]`),
		})
		if err != nil {
			t.Fatal(err)
		}
		deploy := func(host string) (*ent.Deployment, error) {
			inputs := `{}`
			if host != "" {
				inputs = `{"host":"` + host + `"}`
			}
			return worldtest.Unwarned(w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{InstanceID: p.Instance.ID, VersionID: v.ID, Inputs: strictjson.MustParse(inputs)}))
		}
		succeed := func(host string) {
			t.Helper()
			d, err := deploy(host)
			if err != nil {
				t.Fatal(err)
			}
			p.Finish(t, d, nil)
		}
		succeed("a")
		_, err = deploy("b")
		refusedAs(t, err, fault.DeploymentInputsInvalid)
		d := destroying(t, w, p)
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, claimDestroy(t, w, d), execution.Completion{}); err != nil {
			t.Fatal(err)
		}
		// Nothing of it is remembered either, whatever is deployed next.
		succeed("")
		succeed("b")
		_, err = deploy("a")
		refusedAs(t, err, fault.DeploymentInputsInvalid)
		succeed("b")
	})
}

func TestOfADestroyAndARollbackAtOnceOneStarts(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		live := p.Succeeded(t)
		for round := range testkit.Often(40, 200) {
			var errs [2]error
			sides := []func() error{
				func() error {
					_, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: p.Instance.ID})
					return err
				},
				func() error {
					_, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: live.ID})
					return err
				},
			}
			var both sync.WaitGroup
			for n := range sides {
				both.Go(func() { errs[n] = sides[(n+round)%2]() })
			}
			both.Wait()
			active := w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(w.Acme.As(actor.Viewer))
			refused := 0
			for _, err := range errs {
				if fault.Is(err, fault.DeploymentInProgress) {
					refused++
				} else if err != nil {
					t.Error(err)
				}
			}
			if len(active) != 1 || refused != 1 {
				t.Fatalf("round %d: %d are active, %v", round, len(active), errs)
			}
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), active[0].ID, nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Of a destroy and of a deployment that refers to what it destroys one comes first, and the other is refused.
func TestNothingComesToReferToWhatIsDestroyedMeanwhile(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		v := newVersion(t, w, p, "2.0.0", `[{"id":"of","type":"$ref:base","label":"Of"}]`)
		base.Succeeded(t)
		first := map[string]int{}
		for round := range testkit.Often(40, 200) {
			var errs [2]error
			sides := []func() error{
				func() error {
					_, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: base.Instance.ID})
					return err
				},
				func() error {
					_, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
						InstanceID: p.Instance.ID, VersionID: v.ID, Inputs: strictjson.MustParse(`{"of":"` + base.Instance.ID + `"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
					})
					return err
				},
			}
			var both sync.WaitGroup
			for n := range sides {
				side := (n + round) % 2
				both.Go(func() { errs[side] = sides[side]() })
			}
			both.Wait()
			switch destroy, creation := errs[0], errs[1]; {
			case destroy == nil && violated(creation) == "/inputs/of reference":
				first["destroy"]++
			case creation == nil && fault.Is(destroy, fault.ModuleInstanceInUse):
				first["creation"]++
			default:
				t.Fatalf("round %d: destroy: %v, creation: %v", round, destroy, creation)
			}
			active := w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).OnlyX(w.Acme.As(actor.Viewer))
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), active.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("first came %v", first)
	})
}
