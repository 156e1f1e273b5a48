package deployment_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/gate"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/workspace"
	"slipway/internal/test/worldtest"
)

// takeBack notes that the cloud has taken back a deployment that had succeeded.
func takeBack(t *testing.T, w *worldtest.World, deploymentID string) {
	t.Helper()
	back := &ecs.Setbacks{Observed: &ecs.Setback{Status: "ROLLBACK_SUCCESSFUL", Reason: "alarm", At: time.Now().UTC()}}
	err := w.Store.Tx(w.Acme.As(actor.Admin), func(context.Context, *ent.Client) (bool, error) { return false, nil }, func(ctx context.Context, tx *ent.Tx) error {
		return tx.Deployment.UpdateOneID(deploymentID).SetSetbacks(back).Exec(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// previousOf returns the id of what an instance would go back to, "" for nothing.
func previousOf(t *testing.T, w *worldtest.World, instanceID string) string {
	t.Helper()
	of, err := w.Deploy.View.PreviousOf(w.Acme.As(actor.Viewer), []string{instanceID})
	if err != nil {
		t.Fatal(err)
	}
	if of[instanceID] == nil {
		return ""
	}
	return of[instanceID].ID
}

// fails deploys values to an instance, whose program fails, and returns the deployment.
func (s *stages) fails(t *testing.T, instanceID, values string) *ent.Deployment {
	t.Helper()
	d := create(t, s.w, instanceID, s.version, values)
	return s.Finish(t, d, &fault.Data{Code: "x:y:Z", Message: "broken"})
}

func (s *stages) promote(ctx context.Context, t *testing.T, source *ent.Deployment, instanceID string) *ent.Deployment {
	t.Helper()
	made, _, err := s.w.Deploy.Propose.Promote(ctx, propose.Promotion{SourceID: source.ID, InstanceID: instanceID})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Whoever makes something of a deployment, or offers to, goes by the same: what is quarantined, what was promoted from that, and
// what the cloud has taken back is made nothing of.
func TestNothingIsMadeOfWhatIsKnownToBeBad(t *testing.T) {
	t.Parallel()
	kinds := map[string]struct {
		// spoil makes a source bad, which was promoted from another.
		spoil func(t *testing.T, w *worldtest.World, from, source *ent.Deployment)
		code  fault.Code
		// replayed is whether it may be replayed by its id, with a warning.
		replayed bool
	}{
		"quarantined": {func(t *testing.T, w *worldtest.World, _, source *ent.Deployment) { quarantine(t, w, *source.ReleaseID) }, fault.ReleaseQuarantined, false},
		"promoted from what is quarantined": {func(t *testing.T, w *worldtest.World, from, _ *ent.Deployment) { quarantine(t, w, *from.ReleaseID) },
			fault.ReleaseQuarantined, false},
		"taken back by the cloud": {func(t *testing.T, w *worldtest.World, _, source *ent.Deployment) { takeBack(t, w, source.ID) },
			fault.DeploymentRolledBack, true},
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		development, err := w.Workspace.CreateEnvironment(w.Acme.As(actor.Admin), workspace.NewEnvironment{ProjectID: s.Project.ID, Name: "Dev", Slug: "dev"})
		if err != nil {
			t.Fatal(err)
		}
		author, other := holder(t, w, w.Acme, actor.Developer, "author"), holder(t, w, w.Acme, actor.Developer, "other")
		n := 0
		for name, kind := range kinds {
			n++
			first := s.instance(t, development.ID, s.Definition.ID, fmt.Sprint("of-", n))
			staging := s.instance(t, s.environment, s.Definition.ID, fmt.Sprint("of-", n))
			production := s.NewInstance(t, fmt.Sprint("of-", n)).ID
			before := s.live(t, staging, fmt.Sprintf(`{"image":"web:1","level":"%d"}`, n), 2)
			from := s.live(t, first, fmt.Sprintf(`{"image":"web:2.%d"}`, n), 2) // whose level is that of the environment
			source := s.Finish(t, s.promote(author, t, from, staging), nil)
			if *source.ReleaseID == *from.ReleaseID {
				t.Fatal("the promotion ships the same release")
			}

			// A promotion waits for an approval when its source turns out to be bad.
			rule := demand(t, w, s.Fixture, approvals(1), gate.Promote)
			waits := s.promote(author, t, source, production)
			offered := func() bool {
				t.Helper()
				of, err := w.Deploy.View.PromotableOf(author, []string{production}, page.Args{})
				if err != nil {
					t.Fatal(err)
				}
				return slices.ContainsFunc(of[production].Nodes(), func(d *record.Deployment) bool { return d.ID == source.ID })
			}
			if !offered() || previousOf(t, w, staging) != before.ID {
				t.Fatalf("%s: before, offered %t, previous %s", name, offered(), previousOf(t, w, staging))
			}

			kind.spoil(t, w, from, source)
			if offered() {
				t.Errorf("%s: is offered", name)
			}
			approved, err := w.Deploy.Waiting.Approve(other, waits.ID, nil, true)
			if err != nil || approved.Started || approved.Refusal == nil || approved.Refusal.Code != kind.code {
				t.Errorf("%s: a promotion that waited: %+v, %v", name, approved, err)
			}
			of, err := w.Deploy.Waiting.WaitingEligibilities(author, []string{waits.ID})
			if err != nil || of[waits.ID].Start.Allowed || !fault.Is(of[waits.ID].Start.Refusal, kind.code) {
				t.Errorf("%s: its start is %+v, %v", name, of[waits.ID].Start, err)
			}
			if _, err := w.Rules.End(w.Acme.As(actor.Admin), rule.ID, nil); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.Deploy.Propose.Promote(author, propose.Promotion{SourceID: source.ID, InstanceID: production}); !fault.Is(err, kind.code) {
				t.Errorf("%s: promoted: %v", name, err)
			}

			// Nothing goes back to it by itself.
			_, err = w.Catalog.UpdateInstance(w.Acme.As(actor.Admin), staging, catalog.InstancePatch{OnFailure: new(moduleinstance.OnFailureROLL_BACK)})
			if err != nil {
				t.Fatal(err)
			}
			failed := s.fails(t, staging, fmt.Sprintf(`{"image":"web:3","level":"%d"}`, n))
			if made, err := w.Deploy.View.AutomaticOf(author, []string{failed.ID}); err != nil || len(made) > 0 || !strings.Contains(fmt.Sprint(failed.Error.Details), "There is none: ") {
				t.Errorf("%s: rolled back by itself to it: %v, %v; %v", name, made, err, failed.Error.Details)
			}
			s.live(t, staging, fmt.Sprintf(`{"image":"web:4","level":"%d"}`, n), 2)
			if got := previousOf(t, w, staging); got != before.ID {
				t.Errorf("%s: goes back to %s, and not past it to %s", name, got, before.ID)
			}

			// By its id it is replayed with a warning, or not at all.
			again, warnings, err := w.Deploy.Propose.Rollback(author, propose.Replay{SourceID: source.ID})
			eligible, failure := w.Deploy.Admission.Eligibilities(author, []string{source.ID})
			if failure != nil {
				t.Fatal(failure)
			}
			if !kind.replayed {
				if !fault.Is(err, kind.code) || !fault.Is(eligible[source.ID].Rollback.Refusal, kind.code) {
					t.Errorf("%s: rolled back to: %v, eligible %+v", name, err, eligible[source.ID].Rollback)
				}
				continue
			}
			if err != nil || len(warnings) != 1 || warnings[0].Rule != "taken_back" {
				t.Errorf("%s: rolled back to with the warnings %+v, %v", name, warnings, err)
			}
			if e := eligible[source.ID].Redeploy; len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0].Message, "ROLLBACK_SUCCESSFUL") {
				t.Errorf("%s: %+v", name, e)
			}
			w.Cancel(t, w.Acme, again.ID)
		}
	})
}

// A rule that demands that something was live elsewhere is not met by what the cloud has taken back, nor by the time after
// something from outside took its place.
func TestAStayEndsWhenTheCloudTakesItBackOrSomethingFromOutsideTakesItsPlace(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		staging := s.instance(t, s.environment, s.Definition.ID, "staged")
		source := s.live(t, staging, `{"image":"web:2"}`, 2)
		promoted := s.Finish(t, s.promote(w.Acme.As(actor.Developer), t, source, s.Instance.ID), &fault.Data{Code: "x:y:Z", Message: "broken"})
		moved := func(d *ent.Deployment, ago time.Duration) {
			t.Helper()
			at := time.Now().Add(-ago).UTC().Truncate(time.Microsecond)
			text := `UPDATE deployments SET completed_at = $1, live_since = $1 WHERE id = $2`
			if d.Status != entdeployment.StatusSUCCEEDED {
				text = `UPDATE deployments SET completed_at = $1 WHERE id = $2`
			}
			if _, err := w.Raw(t, w.Acme).Exec(text, at, d.ID); err != nil {
				t.Fatal(err)
			}
		}
		demand(t, w, s.Fixture, gate.Demand{Kind: &gate.LiveIn{EnvironmentIDs: []string{s.environment}, Minutes: 60}})
		redeploy := func() (code string) {
			t.Helper()
			of, err := w.Deploy.Admission.Eligibilities(w.Acme.As(actor.Developer), []string{promoted.ID})
			if err != nil {
				t.Fatal(err)
			}
			if e := of[promoted.ID].Redeploy; !e.Allowed {
				return string(e.Refusal.Code) + " " + e.Refusal.Message
			}
			return ""
		}
		if _, err := w.Raw(t, w.Acme).Exec(`UPDATE deployments SET completed_at = $1 WHERE id = $2`, time.Now().Add(-2*time.Hour).UTC(), source.ID); err != nil {
			t.Fatal(err)
		}
		if got := redeploy(); !strings.HasPrefix(got, string(fault.DeploymentNotPromoted)) {
			t.Errorf("live for a moment by the clock of leases: %q", got)
		}
		moved(source, 2*time.Hour)
		if got := redeploy(); got != "" {
			t.Errorf("live for two hours: %s", got)
		}

		// When it went live counts by the clock of leases, as the record has it beside its own time.
		var since *time.Time
		if err := w.Raw(t, w.Acme).QueryRow(`SELECT live_since FROM deployments WHERE id = $1`, source.ID).Scan(&since); err != nil || since == nil {
			t.Fatalf("live since %v, %v", since, err)
		}
		outside := s.fails(t, staging, `{"image":"web:3"}`)
		moved(outside, 90*time.Minute)
		raw(t, w, `UPDATE deployments SET trigger_source = 'event', status = 'SUCCEEDED' WHERE id = '`+outside.ID+`'`)
		if got := redeploy(); !strings.HasPrefix(got, string(fault.DeploymentNotPromoted)) || !strings.Contains(got, "was so for 30") {
			t.Errorf("live for half an hour until something from outside took its place: %q", got)
		}
		raw(t, w, `UPDATE deployments SET status = 'FAILED' WHERE id = '`+outside.ID+`'`)
		if got := redeploy(); got != "" {
			t.Errorf("what failed outside took its place: %s", got)
		}
		takeBack(t, w, source.ID)
		if got := redeploy(); !strings.HasPrefix(got, string(fault.DeploymentNotPromoted)) {
			t.Errorf("taken back by the cloud: %q", got)
		}
	})
}

func TestPreviousIsASuccessOfAnotherReleaseFromBeforeTheLiveOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStages(t, w)
		deployed := func(image string) *ent.Deployment { return s.live(t, s.Instance.ID, `{"image":"`+image+`"}`, 1) }
		wants := func(what, want string) {
			t.Helper()
			if got := previousOf(t, w, s.Instance.ID); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		wants("nothing is live", "")
		one := deployed("web:1")
		wants("there is one success", "")
		two := deployed("web:2")
		wants("two", one.ID)
		s.fails(t, s.Instance.ID, `{"image":"web:x"}`)
		three := deployed("web:3")
		wants("three, beside a failure", two.ID)
		again := deployed("web:2")
		wants("the second again", one.ID)

		outside := s.fails(t, s.Instance.ID, `{"image":"web:y"}`)
		raw(t, w, `UPDATE deployments SET trigger_source = 'event', status = 'SUCCEEDED', release_id = NULL WHERE id = '`+outside.ID+`'`)
		deployed("web:4")
		raw(t, w, `UPDATE deployments SET trigger_source = 'destroy' WHERE id = '`+three.ID+`'`)
		wants("after what is from outside", again.ID)
		for _, d := range []*ent.Deployment{one, two} {
			quarantine(t, w, *d.ReleaseID)
		}
		wants("neither what is quarantined nor a destroy", "")
		if _, err := w.Deploy.Releases.UnquarantineRelease(w.Acme.As(actor.Admin), *one.ReleaseID); err != nil {
			t.Fatal(err)
		}
		wants("one is good again", one.ID)
		raw(t, w, `UPDATE module_instances SET live_deployment_id = NULL WHERE id = '`+s.Instance.ID+`'`)
		wants("nothing is live any more", "")
	})
}
