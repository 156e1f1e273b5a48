package deployment_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/deployment/waiting"
	"slipway/internal/test/worldtest"
)

// reasons returns what a deployment waits for.
func reasons(t testing.TB, w *worldtest.World, o *worldtest.Org, deploymentID string) []waiting.Reason {
	t.Helper()
	of, err := w.Deploy.Waiting.ReasonsOf(o.As(actor.Viewer), []string{deploymentID})
	if err != nil {
		t.Fatal(err)
	}
	return of[deploymentID]
}

// wantReason says that a deployment waits for one thing, whose message has some parts, and returns it.
func wantReason(t testing.TB, w *worldtest.World, deploymentID string, kind waiting.Kind, says ...string) waiting.Reason {
	t.Helper()
	all := reasons(t, w, w.Acme, deploymentID)
	if len(all) != 1 || all[0].Kind != kind {
		t.Fatalf("waits for %+v, want %s", all, kind)
	}
	for _, part := range says {
		if !strings.Contains(all[0].Message, part) {
			t.Errorf("%s: %q does not say %q", kind, all[0].Message, part)
		}
	}
	return all[0]
}

func TestAWaitingDeploymentWaitsForEachUnmetRuleAndForWhatIsActive(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		ann, bob := holder(t, w, w.Acme, actor.Developer, "ann"), holder(t, w, w.Acme, actor.Developer, "bob")
		active := deploy(ann, t, w, p, "web:1")
		demand(t, w, p, approvals(1))
		waits := deploy(ann, t, w, p, "web:2")
		thaws := clock.Now().Add(time.Hour)
		demand(t, w, p, gate.Demand{Kind: &gate.Freeze{From: clock.Now().Add(-time.Hour), Until: &thaws}})

		all := reasons(t, w, w.Acme, waits.ID)
		required, err := w.Deploy.Waiting.RequirementsOf(w.Acme.As(actor.Viewer), []string{waits.ID})
		if err != nil || len(all) != 3 {
			t.Fatalf("%+v, %v", all, err)
		}
		for i, kind := range []waiting.Kind{waiting.ForApprovals, waiting.ForRule, waiting.ForDeployment} {
			if all[i].Kind != kind {
				t.Errorf("reason %d is %+v, want %s", i, all[i], kind)
			}
		}
		for i, q := range required[waits.ID] { // the same judgment
			if r := all[i].Requirement; r == nil || r.Rule.ID != q.Rule.ID || !strings.HasPrefix(all[i].Message, q.Message) {
				t.Errorf("reason %d is %+v, the requirement %+v", i, all[i], q)
			}
		}
		if until := all[1].Until; until == nil || !until.Equal(thaws) || all[0].Until != nil {
			t.Errorf("until %v and %v, want none and %v", all[0].Until, until, thaws)
		}
		if id := all[2].DeploymentID; id == nil || *id != active.ID {
			t.Errorf("%+v is in the way, want %s", all[2], active.ID)
		}

		w.Cancel(t, w.Acme, active.ID)
		if _, err := w.Deploy.Waiting.Approve(bob, waits.ID, nil, true); err != nil {
			t.Fatal(err)
		}
		wantReason(t, w, waits.ID, waiting.ForRule, "frozen until")
		clock.Advance(time.Hour)
		if r := wantReason(t, w, waits.ID, waiting.ForStart, "All rules are met", waits.WaitsUntil.UTC().Format(time.RFC3339)); r.Until != nil {
			t.Errorf("until %v", r.Until)
		}
		if _, _, err := w.Deploy.Waiting.Start(ann, waiting.Start{DeploymentID: waits.ID}); err != nil {
			t.Errorf("it cannot be started: %v", err)
		}
		wantReason(t, w, waits.ID, waiting.RunnerMissing)
	})
}

func TestAPendingDeploymentWaitsForARunnerThatCanRunItThere(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		d := destroying(t, w, p) // which a runner does not get that cannot destroy
		wantReason(t, w, d.ID, waiting.RunnerMissing, "the type aws:ecs and the action DESTROY", "`slipway runner --deployment-types aws:ecs --destroy`.")

		asks(runnerToken(t, w, w.Acme, "another-type", nil), t, w, []string{terraformType}, apply, destroys)
		asks(runnerToken(t, w, w.Acme, "another-action", nil), t, w, []string{ecsType}, apply)
		asks(runnerToken(t, w, w.Globex, "theirs", nil), t, w, []string{ecsType}, apply, destroys)
		r := wantReason(t, w, d.ID, waiting.RunnerMissing)
		if strings.Contains(r.Message, "may not run deployments here") || r.Until != nil || r.DeploymentID != nil || r.Requirement != nil {
			t.Errorf("%+v", r)
		}

		other := w.Fixture(t, w.Acme, "api")
		asks(runnerToken(t, w, w.Acme, "elsewhere", &actor.Scope{Projects: []string{other.Project.ID}}), t, w, []string{ecsType}, apply, destroys)
		wantReason(t, w, d.ID, waiting.RunnerMissing, "These may not run deployments here: elsewhere.")

		here := &actor.Scope{Environments: []string{p.Environment.ID}}
		runner := runnerToken(t, w, w.Acme, "here", here)
		note(w, runner, apply, destroys)
		wantReason(t, w, d.ID, waiting.ForClaim, "one of: here.")
		if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), actor.From(runner).ID); err != nil {
			t.Fatal(err)
		}
		wantReason(t, w, d.ID, waiting.RunnerMissing)

		note(w, runnerToken(t, w, w.Acme, "again", here), apply, destroys)
		clock.Advance(10*time.Minute + time.Second)
		wantReason(t, w, d.ID, waiting.RunnerMissing)
	})
}

// note has a runner ask for work, and get none that there may be.
func note(w *worldtest.World, ctx context.Context, actions ...state.Action) {
	w.Deploy.Runners.Note(actor.From(ctx), []string{ecsType}, actions)
	w.Deploy.Runners.StoreAsks(context.Background())
}

func TestAPendingDeploymentWaitsForBusyRunnersAMinuteAfterTheyAskedLast(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		one, two := runnerToken(t, w, w.Acme, "one", nil), runnerToken(t, w, w.Acme, "two", nil)
		first := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		asks(one, t, w, []string{ecsType})
		d := p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1"}`)
		wantReason(t, w, d.ID, waiting.ForClaim, "one of: one.")

		clock.Advance(time.Minute)
		wantReason(t, w, d.ID, waiting.ForClaim)
		clock.Advance(time.Millisecond)
		wantReason(t, w, d.ID, waiting.RunnersBusy, "busy: one.")
		note(w, two, apply)
		wantReason(t, w, d.ID, waiting.ForClaim, "one of: two.")
		// A runner that runs nothing is not busy, however long ago it asked.
		clock.Advance(5 * time.Minute)
		wantReason(t, w, d.ID, waiting.ForClaim, "one of: two.")
		clock.Advance(10 * time.Minute)
		wantReason(t, w, d.ID, waiting.RunnersBusy, "busy: one.")

		// One of the processes of its token is idle.
		note(w, one, apply)
		wantReason(t, w, d.ID, waiting.ForClaim, "one of: one.")
		if all := reasons(t, w, w.Acme, first.ID); len(all) != 0 {
			t.Errorf("it runs, and waits for %+v", all)
		}
	})
}

func TestARunningDeploymentWaitsForTheEndOfItsProgramOnlyIfThatWasAskedToStop(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, p := clockOf(w), w.Fixture(t, w.Acme, "web")
		w.Deploy.Execution.CancelTimeout = 10 * time.Minute
		d, lease := requested(t, w, p)
		r := wantReason(t, w, d.ID, waiting.ForProgramEnd, "requested by developer", "by force")
		if until := clock.Now().Add(10 * time.Minute); r.Until == nil || !r.Until.Equal(until) {
			t.Errorf("until %v, want %v", r.Until, until)
		}
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{Canceled: true}); err != nil {
			t.Fatal(err)
		}
		if all := reasons(t, w, w.Acme, d.ID); len(all) != 0 {
			t.Errorf("it has ended, and waits for %+v", all)
		}
	})
}

func TestWhatManyDeploymentsWaitForTakesAsManyStatementsAsThatOfOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		asks(runnerToken(t, w, w.Acme, "one", nil), t, w, []string{ecsType})
		var ids []string
		for i := range 20 {
			ids = append(ids, p.Deploy(t, p.NewInstance(t, fmt.Sprint("i", i)).ID, `{"image":"web:1"}`).ID)
		}
		demand(t, w, p, approvals(1))
		for range 10 {
			ids = append(ids, deploy(holder(t, w, w.Acme, actor.Developer, fmt.Sprint("ann", len(ids))), t, w, p, "web:2").ID)
		}
		count := func(ids []string) (n int) {
			ran := w.Statements(func() {
				of, err := w.Deploy.Waiting.ReasonsOf(w.Acme.As(actor.Viewer), ids)
				if err != nil || len(of) != len(ids) {
					t.Fatalf("%d of %d, %v", len(of), len(ids), err)
				}
			})
			return len(ran)
		}
		one, all := count([]string{ids[0], ids[len(ids)-1]}), count(ids)
		if one != all {
			t.Errorf("%d statements for two deployments, %d for %d", one, all, len(ids))
		}
	})
}

// TestAnotherOrganizationsDeploymentWaitsForNothing asks about what the caller cannot see.
func TestAnotherOrganizationsDeploymentWaitsForNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		if d.Status != entdeployment.StatusPENDING {
			t.Fatal(d.Status)
		}
		if all := reasons(t, w, w.Globex, d.ID); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}
