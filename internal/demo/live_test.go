package demo_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/environment"
	"slipway/ent/moduleinstance"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/demo"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/test/worldtest"
	"slipway/web"
)

const (
	// quick lets a deployment end in some hundredths of a second, slow not before the test does.
	quick = 100
	slow  = 1e-5
	// patience is how long a test waits for what happens at once.
	patience = time.Minute
)

// run lets the demo's runner work until it is stopped, at the latest when the test ends; stop waits for it.
func run(t *testing.T, w *worldtest.World, r *demo.Result, pace float64) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		demo.Run(ctx, w.Services, r, pace, slog.New(slog.DiscardHandler))
	}()
	stop = func() {
		cancel()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("the runner does not end")
		}
	}
	t.Cleanup(stop)
	return stop
}

// await follows a deployment until it is as wanted or has ended.
func await(t *testing.T, w *worldtest.World, r *demo.Result, id string, wanted func(*record.Deployment) bool) *record.Deployment {
	t.Helper()
	ctx, cancel := context.WithTimeout(inside(t, r), patience)
	defer cancel()
	changes, err := w.Deploy.View.Follow(ctx, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	var last *record.Deployment
	for c := range changes {
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		if last = c.Deployment; wanted(last) {
			return last
		}
	}
	if last.CompletedAt == nil {
		t.Fatalf("%s is still %s", id, last.Status)
	}
	return last
}

func ended(d *record.Deployment) bool { return d.CompletedAt != nil }

func running(d *record.Deployment) bool { return d.Status == entdeployment.StatusRUNNING }

// reported reports whether the runner has told of the first stage.
func reported(d *record.Deployment) bool {
	data, err := d.Data.Data()
	return err == nil && data != nil && data.ServiceDeploymentState != nil
}

// live returns the deployment that is live at a place such as storefront/production/web.
func live(t *testing.T, w *worldtest.World, r *demo.Result, place string) *record.Deployment {
	t.Helper()
	ctx, at := inside(t, r), strings.Split(place, "/")
	p := w.Store.Client.Project.Query().Where(project.Slug(at[0])).OnlyX(ctx)
	e := w.Store.Client.Environment.Query().Where(environment.ProjectID(p.ID), environment.Slug(at[1])).OnlyX(ctx)
	i := w.Store.Client.ModuleInstance.Query().Where(moduleinstance.EnvironmentID(e.ID), moduleinstance.Name(at[2])).OnlyX(ctx)
	return (*record.Deployment)(w.Store.Client.Deployment.GetX(ctx, *i.LiveDeploymentID))
}

// create deploys what is live at a place once more, with another image if one is given, by GraphQL.
func create(t *testing.T, w *worldtest.World, r *demo.Result, place, image string) string {
	t.Helper()
	from := live(t, w, r, place)
	stored, err := w.Deploy.Releases.Release(inside(t, r), *from.ReleaseID)
	if err != nil {
		t.Fatal(err)
	}
	content, err := releases.ContentOf(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	var inputs map[string]any
	if err := json.Unmarshal(content.Inputs, &inputs); err != nil {
		t.Fatal(err)
	}
	if image != "" {
		inputs["image"] = image
	}
	input := map[string]any{"moduleInstanceId": from.ModuleInstanceID, "moduleVersionId": stored.ModuleVersionID, "inputs": inputs}
	if content.Kind == ecs.Type {
		input["artifact"] = map[string]any{"definition": map[string]any{"family": "web"}}
	}
	answer := w.GraphQL(t, r.Tokens[actor.Developer],
		`mutation($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { id } } }`, map[string]any{"input": input})
	return answer.Text(t, "data", "createDeployment", "deployment", "id")
}

func TestWhatIsDeployedIsCarriedOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		left := active(t, w, r)
		if len(left) != 5 {
			t.Fatalf("%d are underway, want 5", len(left))
		}
		approved := w.GraphQL(t, r.Tokens[actor.Admin],
			`mutation($id: ID!) { approveDeployment(input: { id: $id }) { started } }`, map[string]any{"id": r.AwaitingDeploymentID})
		if approved.At(t, "data", "approveDeployment", "started") != true {
			t.Fatalf("%s", approved.Body)
		}
		endRules(t, w, r)
		run(t, w, r, quick)
		t.Run("what was approved", func(t *testing.T) {
			t.Parallel()
			checkCourse(t, await(t, w, r, r.AwaitingDeploymentID, ended), "BLUE_GREEN")
		})
		t.Run("what the seeding left underway", func(t *testing.T) {
			t.Parallel()
			for _, begun := range left {
				if begun.ID == r.FollowedDeploymentID {
					continue
				}
				d := await(t, w, r, begun.ID, ended)
				data, err := d.Data.Data()
				if err != nil {
					t.Fatal(err)
				}
				checkCourse(t, d, *data.ServiceDeploymentState.Strategy)
			}
		})
		t.Run("the example that fails", func(t *testing.T) {
			t.Parallel()
			before, failed := live(t, w, r, "payments/staging/ledger"), runExample(t, w, r)
			checkFailure(t, await(t, w, r, failed, ended), live(t, w, r, "payments/staging/ledger"), before.ID)
		})
		for course, place := range map[string]string{
			"BLUE_GREEN": "storefront/production/web", "ROLLING": "storefront/development/web", "terraform": "payments/production/settlement",
		} {
			t.Run(course, func(t *testing.T) {
				t.Parallel()
				deployInEveryWay(t, w, r, course, place)
			})
		}
	})
}

// runExample runs the example that deploys.
func runExample(t *testing.T, w *worldtest.World, r *demo.Result) (deploymentID string) {
	t.Helper()
	e := r.Examples[slices.IndexFunc(r.Examples, func(e web.Example) bool { return strings.Contains(e.Query, "createDeployment") })]
	answer := w.GraphQL(t, r.Tokens[actor.Admin], e.Query, json.RawMessage(e.Variables))
	return answer.Text(t, "data", "createDeployment", "deployment", "id")
}

// active returns the deployments that are PENDING or RUNNING.
func active(t *testing.T, w *worldtest.World, r *demo.Result) []*ent.Deployment {
	return w.Store.Client.Deployment.Query().Where(store.IsInProgress).AllX(inside(t, r))
}

// endRules ends the rules, so that developers deploy everywhere.
func endRules(t *testing.T, w *worldtest.World, r *demo.Result) {
	t.Helper()
	by := actor.With(t.Context(), &actor.Actor{Name: "ada", Role: actor.Admin, OrganizationID: r.OrganizationID})
	for _, made := range w.Store.Client.Rule.Query().AllX(by) {
		if _, err := w.Rules.End(by, made.ID, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func deployInEveryWay(t *testing.T, w *worldtest.World, r *demo.Result, course, place string) {
	t.Helper()
	first := live(t, w, r, place)
	created := create(t, w, r, place, "registry.example/northwind/it:9.0.0")
	shipped := await(t, w, r, created, ended)
	checkCourse(t, shipped, course)
	if now := live(t, w, r, place); now.ID != created {
		t.Errorf("live is %s, want %s", now.ID, created)
	}

	answer := w.REST(t, "POST", "/deployments/"+first.ID+"/rollback", r.Tokens[actor.Developer], "", nil)
	rolledBack := answer.Text(t, "data", "id")
	var tasks, traffic []int32
	sawStart := false // who follows late is sent the record as it is by then
	back := await(t, w, r, rolledBack, func(d *record.Deployment) bool {
		if data, err := d.Data.Data(); err == nil && data != nil && data.ServiceDeploymentState != nil {
			checkWeights(t, d.ID, data.ServiceDeploymentState)
			sawStart = sawStart || d.Version <= 4
			tasks = append(tasks, *data.ServiceDeploymentState.TargetServiceRevision.RunningTaskCount)
			traffic = append(traffic, *data.ServiceDeploymentState.TargetServiceRevision.RequestedProductionTrafficWeight)
		}
		return false
	})
	checkCourse(t, back, course)
	if from, was := groups(t, back), groups(t, shipped); len(was) > 0 && from[0] != was[len(was)-1] {
		t.Errorf("the traffic goes from %v, was at %v", from, was)
	}
	for name, seen := range map[string][]int32{"tasks": tasks, "traffic": traffic} {
		if course != "terraform" && (!slices.IsSorted(seen) || sawStart && seen[0] == seen[len(seen)-1]) {
			t.Errorf("%s went %v", name, seen)
		}
	}

	answer = w.GraphQL(t, r.Tokens[actor.Developer],
		`mutation($id: ID!) { redeployDeployment(input: { id: $id }) { deployment { id } } }`, map[string]any{"id": created})
	redeployed := answer.Text(t, "data", "redeployDeployment", "deployment", "id")
	checkCourse(t, await(t, w, r, redeployed, ended), course)

	broken := create(t, w, r, place, "registry.example/northwind/it:9.0.0-broken")
	checkFailure(t, await(t, w, r, broken, ended), live(t, w, r, place), redeployed)
}

func TestACanceledDeploymentMakesRoomAndTheEndLeavesTheOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		w.Deploy.Execution.LeaseTime = 100 * patience
		endRules(t, w, r)
		stop := run(t, w, r, slow)
		// Of the eight that are carried out at once, five were underway.
		var ids []string
		for _, place := range []string{"storefront/production/web", "storefront/production/catalog"} {
			ids = append(ids, create(t, w, r, place, ""))
		}
		ids = append(ids, runExample(t, w, r))
		for _, id := range ids {
			await(t, w, r, id, running)
		}
		next := create(t, w, r, "payments/production/settlement", "")
		waits := create(t, w, r, "storefront/production/assets", "")

		by := actor.With(t.Context(), &actor.Actor{Name: "maya", Role: actor.Developer, OrganizationID: r.OrganizationID})
		await(t, w, r, ids[0], reported) // so that its end is all that is still to be told
		canceled, err := w.Deploy.Execution.Cancel(by, ids[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		// Its runner was told: the next renewal of the lease comes long after the test.
		await(t, w, r, next, running)
		stop()
		after := await(t, w, r, ids[0], ended)
		if after.Status != entdeployment.StatusCANCELED || after.Version != canceled.Version+1 {
			t.Errorf("it is %s of version %d, was of %d", after.Status, after.Version, canceled.Version)
		}
		left := active(t, w, r)
		for _, d := range left {
			if is := running((*record.Deployment)(d)); is == (d.ID == waits) || is != (d.LeaseExpiresAt != nil) {
				t.Errorf("%s is %s until %v", d.ID, d.Status, d.LeaseExpiresAt)
			}
		}
		if len(left) != 9 {
			t.Errorf("%d are left, want 8 that run and 1 that waits", len(left))
		}
	})
}

func TestALeaseIsRenewedWhileAStageTakesLonger(t *testing.T) {
	t.Parallel()
	w := worldtest.Another(t, worldtest.SQLite(t))
	r := seed(t, w, slog.New(slog.DiscardHandler))
	// What was underway is watched for 48 s at a pace of 1: longer than the lease, whose last two thirds are
	// left for a busy machine to renew it in.
	const pace = 12
	w.Deploy.Execution.LeaseTime = 3 * time.Second
	left := active(t, w, r)
	run(t, w, r, pace)
	for _, d := range left {
		if d.Status == entdeployment.StatusRUNNING && d.ID != r.FollowedDeploymentID {
			checkCourse(t, await(t, w, r, d.ID, ended), "BLUE_GREEN")
		}
	}
}
