package deployment_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/worldtest"
)

// rollsBack has the fixture's instance roll back by itself.
func rollsBack(t *testing.T, w *worldtest.World, p *worldtest.Fixture) {
	t.Helper()
	if _, err := w.Catalog.UpdateInstance(w.Acme.As(actor.Admin), p.Instance.ID, catalog.InstancePatch{OnFailure: new(moduleinstance.OnFailureROLL_BACK)}); err != nil {
		t.Fatal(err)
	}
}

// rollbacksOf returns the rollbacks that failures have made.
func rollbacksOf(w *worldtest.World) []*ent.Deployment {
	return w.Store.Client.Deployment.Query().Where(entdeployment.AfterFailureOfNotNil()).AllX(w.Acme.As(actor.Viewer))
}

func TestALeaseThatRunsOutRollsBackByItself(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		live := p.Succeeded(t)
		rollsBack(t, w, p)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:silent"}`)
		p.Claim(t, d)
		if _, err := w.Deploy.Execution.ExpireLeases(t.Context()); err != nil { // the servers have been at work for long
			t.Fatal(err)
		}
		past := time.Now().Add(-time.Hour).UTC()
		for _, statement := range []string{
			`UPDATE deployments SET lease_expires_at = $1 WHERE lease_expires_at IS NOT NULL`,
		} {
			if _, err := w.Raw(t, w.Acme).Exec(statement, past); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Raw(t, w.Acme).Exec(`UPDATE lease_sweeps SET resumed_at = $1 WHERE id = 'leases'`, past); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := w.Deploy.Execution.ExpireLeases(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		list := rollbacksOf(w)
		if len(list) != 1 || *list[0].AfterFailureOf != d.ID || *list[0].RollbackToDeploymentID != live.ID {
			t.Fatalf("%d rollbacks of %s", len(list), w.Store.Client.Deployment.GetX(w.Acme.As(actor.Viewer), d.ID).Status)
		}
	})
}

func TestNoFailureOfADestroyNorACancellationRollsBack(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		rollsBack(t, w, p)
		w.Cancel(t, w.Acme, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`).ID)
		if _, _, err := w.Deploy.Propose.Destroy(w.Acme.As(actor.Admin), propose.Destroy{InstanceID: p.Instance.ID}); err != nil {
			t.Fatal(err)
		}
		claimed, lease, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes, Actions: []state.Action{state.DestroyAction}})
		if err != nil || claimed == nil {
			t.Fatalf("%v, %v", claimed, err)
		}
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), claimed.ID, lease.ID, execution.Completion{Failure: broken}); err != nil {
			t.Fatal(err)
		}
		if list := rollbacksOf(w); len(list) != 0 {
			t.Errorf("%d rollbacks", len(list))
		}
	})
}

// If the cloud itself has gone back, nothing is to be done; if it only stopped, there is.
func TestWhatTheCloudHasRolledBackIsNotRolledBackAgain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		rollsBack(t, w, p)
		for i, c := range []struct {
			status string
			rolls  bool
		}{{"ROLLBACK_SUCCESSFUL", false}, {"ROLLBACK_IN_PROGRESS", false}, {"ROLLBACK_FAILED", true}, {"STOPPED", true}} {
			for _, failure := range []*fault.Data{broken, nil} { // it is no success either way
				before := len(rollbacksOf(w))
				d := p.Deploy(t, p.Instance.ID, fmt.Sprintf(`{"image":"web:%s-%d"}`, strings.ToLower(c.status), i))
				lease := p.Claim(t, d)
				report := execution.Report{Data: strictjson.MustParse(fmt.Sprintf(`{"type":"aws:ecs","serviceDeploymentState":{"status":%q}}`, c.status))}
				if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, report); err != nil {
					t.Fatal(err)
				}
				ended, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{Failure: failure})
				if err != nil || ended.Status != entdeployment.StatusFAILED {
					t.Fatalf("%+v, %v", ended, err)
				}
				if rolled := len(rollbacksOf(w)) > before; rolled != c.rolls {
					t.Errorf("%s, failure %v: rolled back %t", c.status, failure != nil, rolled)
				}
				for _, left := range w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(w.Acme.As(actor.Viewer)) {
					w.Cancel(t, w.Acme, left.ID)
				}
			}
		}
	})
}

func TestAFailureSaysWhyItDoesNotRollBack(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		rollsBack(t, w, p)
		why := func(d *ent.Deployment) string {
			t.Helper()
			if d.Error == nil || len(d.Error.Details) == 0 || len(d.Error.Details[0].Items) != 1 {
				t.Fatalf("%+v", d.Error)
			}
			return d.Error.Details[0].Items[0]
		}
		if got := why(p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`), broken)); got != "There is none: nothing of the instance is live" {
			t.Error(got)
		}
		live := p.Succeeded(t)
		again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: live.ID})
		if err != nil {
			t.Fatal(err)
		}
		if got := why(p.Finish(t, again, broken)); got != "There is none: what is live is the same release" {
			t.Error(got)
		}
		if _, err := w.Deploy.Releases.Quarantine(w.Acme.As(actor.Admin), *live.ReleaseID, "bad", nil); err != nil {
			t.Fatal(err)
		}
		if got := why(p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), broken)); got == "" || len(rollbacksOf(w)) != 0 {
			t.Error(got)
		}
		if _, err := w.Deploy.Releases.UnquarantineRelease(w.Acme.As(actor.Admin), *live.ReleaseID); err != nil {
			t.Fatal(err)
		}
		// A rule that names rollbacks holds for this one, too: it waits for an approval, which anybody may give.
		demand(t, w, p, approvals(1), gate.Rollback)
		p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:3"}`), broken)
		list := rollbacksOf(w)
		if len(list) != 1 || list[0].Status != entdeployment.StatusAWAITING_APPROVAL {
			t.Fatalf("%+v", list)
		}
		approved, err := w.Deploy.Waiting.Approve(w.Acme.As(actor.Developer), list[0].ID, nil, true)
		if err != nil || !approved.Started {
			t.Errorf("%+v, %v", approved, err)
		}
	})
}
