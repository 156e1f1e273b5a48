package deployment_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/auth"
	"slipway/internal/pure/gate"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/service/rule"
	"slipway/internal/test/worldtest"
)

// holder returns a context of a caller of the organization, as who somebody holds a token.
func holder(t testing.TB, w *worldtest.World, o *worldtest.Org, role actor.Role, name string) context.Context {
	t.Helper()
	made := actor.With(context.Background(), &actor.Actor{Name: "cli", Role: actor.System, OrganizationID: o.ID, Channel: actor.CLI})
	_, secret, err := w.Accounts.CreateToken(made, account.NewToken{Name: name, Role: role, Holder: &name})
	if err != nil {
		t.Fatal(err)
	}
	return asToken(t, w, o, secret)
}

func asToken(t testing.TB, w *worldtest.World, o *worldtest.Org, secret auth.Secret) context.Context {
	t.Helper()
	verified, err := w.Accounts.VerifyToken(context.Background(), secret.Hash())
	if err != nil {
		t.Fatal(err)
	}
	return actor.With(context.Background(), verified.Actor.In(o.ID).Via(actor.GraphQL))
}

// demand makes a rule for the fixture's environment.
func demand(t testing.TB, w *worldtest.World, p *worldtest.Fixture, d gate.Demand, operations ...gate.Operation) *ent.Rule {
	t.Helper()
	in := rule.New{
		Name: "rule", EnvironmentID: &p.Environment.ID, Demand: d, Operations: operations, Overridable: true,
	}
	for n := 2; ; n++ {
		r, _, err := w.Rules.Create(w.Acme.As(actor.Admin), in)
		if err == nil {
			return r
		}
		if !fault.Is(err, fault.RuleNameTaken) {
			t.Fatal(err)
		}
		in.Name = fmt.Sprint("rule ", n)
	}
}

func approvals(count int32) gate.Demand {
	return gate.Demand{Kind: &gate.Approvals{Count: count, Role: actor.Developer}}
}

// deploy creates a deployment of the fixture's instance.
func deploy(ctx context.Context, t testing.TB, w *worldtest.World, p *worldtest.Fixture, image string) *ent.Deployment {
	t.Helper()
	d, _, err := w.Deploy.Propose.Create(ctx, newOf(w, p, image))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func newOf(w *worldtest.World, p *worldtest.Fixture, image string) propose.New {
	return propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"` + image + `"}`),
		Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(w.DataOf(w.Acme, p.Instance.ID)),
	}
}

func TestWhatLacksApprovalsWaitsAndHoldsNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, bob, eve := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob"), holder(t, w, w.Acme, actor.Viewer, "eve")
		running := deploy(ann, t, w, p, "web:1")
		demand(t, w, p, approvals(1))
		waits := deploy(ann, t, w, p, "web:2") // although another is in progress
		if waits.Status != entdeployment.StatusAWAITING_APPROVAL || waits.WaitsUntil == nil {
			t.Fatalf("%s until %v", waits.Status, waits.WaitsUntil)
		}
		if claimed, _, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: []string{"aws:ecs"}}); err != nil || claimed == nil || claimed.ID != running.ID {
			t.Fatalf("claimed %v, %v", claimed, err)
		}
		for who, ctx := range map[string]context.Context{"the author": ann, "a viewer": eve} {
			if _, err := w.Deploy.Waiting.Approve(ctx, waits.ID, nil, true); fault.Status(err) != 403 {
				t.Errorf("approved by %s: %v", who, err)
			}
		}
		if _, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID}); !fault.Is(err, fault.DeploymentApprovalsMissing) {
			t.Errorf("started without: %v", err)
		}
		approved, err := w.Deploy.Waiting.Approve(bob, waits.ID, new("looks right"), true)
		if err != nil || approved.Started || !fault.Is(approved.Refusal, fault.DeploymentInProgress) {
			t.Fatalf("%+v, %v", approved, err)
		}
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), running.ID, w.LeaseOf(w.Acme, running.ID), execution.Completion{Failure: &fault.Data{Code: "x:y:Z", Message: "broken"}}); err != nil {
			t.Fatal(err)
		}
		started, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID})
		if err != nil || started.Status != entdeployment.StatusPENDING {
			t.Fatalf("%v, %v", started, err)
		}
		for range 2 { // the same again
			if again, err := w.Deploy.Waiting.Approve(bob, waits.ID, nil, true); err != nil || !again.Started {
				t.Errorf("%+v, %v", again, err)
			}
			if again, _, err := w.Deploy.Waiting.Start(bob, waiting.Start{DeploymentID: waits.ID}); err != nil || again.Version != started.Version {
				t.Errorf("%v, %v", again, err)
			}
		}
		p.Finish(t, started, nil)
	})
}

func TestARejectionEndsWhatWaits(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
		demand(t, w, p, approvals(2))
		waits := deploy(ann, t, w, p, "web:1")
		if _, err := w.Deploy.Waiting.Approve(bob, waits.ID, nil, true); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			d, err := w.Deploy.Waiting.Reject(bob, waits.ID, new("not on Friday"))
			if err != nil || d.Error == nil || d.Error.Code != string(fault.DeploymentRejected) || d.Error.Description != "not on Friday" {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		if _, err := w.Deploy.Waiting.Approve(holder(t, w, w.Acme, actor.Admin, "cyd"), waits.ID, nil, true); !fault.Is(err, fault.DeploymentRejected) {
			t.Errorf("approved after: %v", err)
		}
		if _, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID}); !fault.Is(err, fault.DeploymentRejected) {
			t.Errorf("started after: %v", err)
		}
	})
}

func TestAnEligibilitySaysHowWhatWaitedHasEnded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
		demand(t, w, p, approvals(1))
		waits := deploy(ann, t, w, p, "web:1")
		if _, err := w.Deploy.Waiting.Reject(bob, waits.ID, nil); err != nil {
			t.Fatal(err)
		}
		of, err := w.Deploy.Waiting.WaitingEligibilities(bob, []string{waits.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []*admission.Eligibility{of[waits.ID].Approve, of[waits.ID].Start} {
			if e.Allowed || !fault.Is(e.Refusal, fault.DeploymentRejected) {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestASuccessSupersedesWhatWaits(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
		running := deploy(ann, t, w, p, "web:1")
		demand(t, w, p, approvals(1))
		waits := deploy(ann, t, w, p, "web:2")
		live := p.Finish(t, running, nil)
		d, err := w.Store.Client.Deployment.Get(ann, waits.ID)
		if err != nil || d.Error == nil || d.Error.Code != string(fault.DeploymentSuperseded) || d.Status != entdeployment.StatusCANCELED {
			t.Fatalf("%+v, %v", d, err)
		}
		if _, err := w.Deploy.Waiting.Approve(bob, waits.ID, nil, true); !fault.Is(err, fault.DeploymentSuperseded) {
			t.Errorf("approved after %s: %v", live.ID, err)
		}
	})
}

func TestWhatWaitsExpires(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
		demand(t, w, p, approvals(1))
		waits := deploy(ann, t, w, p, "web:1")
		if n, err := w.Deploy.Waiting.ExpireWaiting(t.Context()); err != nil || n != 0 {
			t.Fatalf("%d expired early, %v", n, err)
		}
		if _, err := w.Raw(t, w.Acme).Exec(`UPDATE deployments SET waits_until = $1 WHERE id = $2`, time.Now().Add(-time.Second).UTC(), waits.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Deploy.Waiting.Approve(bob, waits.ID, nil, true); !fault.Is(err, fault.DeploymentExpired) {
			t.Errorf("approved though the sweep is late: %v", err)
		}
		if n, err := w.Deploy.Waiting.ExpireWaiting(t.Context()); err != nil || n != 1 {
			t.Fatalf("%d expired, %v", n, err)
		}
		if d, err := w.Store.Client.Deployment.Get(ann, waits.ID); err != nil || d.Error == nil || d.Error.Code != string(fault.DeploymentExpired) {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

func TestAtMostTwentyWait(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann := holder(t, w, w.Acme, actor.Developer, "ann")
		demand(t, w, p, approvals(1))
		var last *ent.Deployment
		for range 20 {
			last = deploy(ann, t, w, p, "web:1")
		}
		if _, _, err := w.Deploy.Propose.Create(ann, newOf(w, p, "web:1")); !fault.Is(err, fault.DeploymentTooManyWaiting) {
			t.Errorf("the 21st: %v", err)
		}
		w.Cancel(t, w.Acme, last.ID)
		deploy(ann, t, w, p, "web:1")
	})
}

func TestAnAdminGoesPastRulesLoudly(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann, boss := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Admin, "boss")
		r := demand(t, w, p, gate.Demand{Kind: &gate.Freeze{From: time.Now().Add(-time.Hour)}})
		if _, _, err := w.Deploy.Propose.Create(ann, newOf(w, p, "web:1")); !fault.Is(err, fault.EnvironmentClosed) {
			t.Fatalf("in a freeze: %v", err)
		}
		in := newOf(w, p, "web:1")
		in.OverrideReason = new("the site is down")
		if _, _, err := w.Deploy.Propose.Create(ann, in); !fault.Is(err, fault.DeploymentForbidden) {
			t.Errorf("by a developer: %v", err)
		}
		d, _, err := w.Deploy.Propose.Create(boss, in)
		if err != nil || d.Override == nil || d.Override.By != "boss" || len(d.Override.Requirements) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		p.Finish(t, d, nil)
		if _, _, err := w.Rules.Update(w.Acme.As(actor.Admin), r.ID, rule.Patch{Overridable: new(false)}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.Deploy.Propose.Create(boss, in); !fault.Is(err, fault.RuleNotOverridable) {
			t.Errorf("past a rule that holds in any case: %v", err)
		}
		if _, _, err := w.Deploy.Propose.Rollback(ann, propose.Replay{SourceID: d.ID}); err != nil {
			t.Errorf("a rollback, which no rule names: %v", err)
		}
	})
}

func TestAFailureRollsBackByItself(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		ann := holder(t, w, w.Acme, actor.Developer, "ann")
		live := p.Succeeded(t)
		if err := w.Store.Tx(w.Acme.As(actor.Admin), func(context.Context, *ent.Client) (bool, error) { return false, nil }, func(ctx context.Context, tx *ent.Tx) error {
			return tx.ModuleInstance.UpdateOneID(p.Instance.ID).SetOnFailure("ROLL_BACK").Exec(ctx)
		}); err != nil {
			t.Fatal(err)
		}
		broken := deploy(ann, t, w, p, "web:broken")
		lease := p.Claim(t, broken)
		for range 2 {
			if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), broken.ID, lease, execution.Completion{Failure: &fault.Data{Code: "x:y:Z", Message: "broken"}}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := w.Store.Client.Deployment.Query().Where(entdeployment.AfterFailureOfNotNil()).All(ann)
		if err != nil || len(list) != 1 {
			t.Fatalf("%d rollbacks, %v", len(list), err)
		}
		if back := list[0]; *back.AfterFailureOf != broken.ID || *back.RollbackToDeploymentID != live.ID || back.Status != entdeployment.StatusPENDING || back.CreatedBy != "slipway" {
			t.Errorf("%+v", back)
		}
		// The rollback fails, too: nothing more is made.
		if d := p.Finish(t, list[0], &fault.Data{Code: "x:y:Z", Message: "broken"}); d.Status != entdeployment.StatusFAILED {
			t.Errorf("%s", d.Status)
		}
		if n := w.Store.Client.Deployment.Query().Where(entdeployment.StatusEQ(entdeployment.StatusPENDING)).CountX(ann); n != 0 {
			t.Errorf("%d more", n)
		}
	})
}
