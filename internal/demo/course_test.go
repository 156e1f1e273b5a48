package demo_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/record"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment/state"
)

// stages are those of the course of each strategy; terraform modules have a course too.
var stages = map[string][]string{
	"BLUE_GREEN": {
		"RECONCILE_SERVICE", "PRE_SCALE_UP", "SCALE_UP", "POST_SCALE_UP", "TEST_TRAFFIC_SHIFT", "PRODUCTION_TRAFFIC_SHIFT",
		"BAKE_TIME", "CLEAN_UP",
	},
	"ROLLING":   {"RECONCILE_SERVICE", "SCALE_UP", "BAKE_TIME", "CLEAN_UP"},
	"terraform": {"INIT", "PLAN", "PLAN", "APPLY", "APPLY"},
}

// checkCourse holds that a deployment went through the stages, each once and in order, and succeeded.
func checkCourse(t *testing.T, d *record.Deployment, course string) {
	t.Helper()
	if d.Status != entdeployment.StatusSUCCEEDED {
		t.Errorf("%s is %s: %+v", d.ID, d.Status, d.Error)
	}
	events, err := state.Events(t.Context(), d.Data, d.Events)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for i, e := range events {
		seen = append(seen, *e.LifecycleStage)
		if *e.CurrentStep != int32(i+1) || *e.TotalSteps != int32(len(stages[course])) || *e.Message == "" {
			t.Errorf("event %d of %s is step %d of %d: %q", i, d.ID, *e.CurrentStep, *e.TotalSteps, *e.Message)
		}
	}
	if diff := cmp.Diff(stages[course], seen); diff != "" {
		t.Errorf("%s: %s", d.ID, diff)
	}
	if course != "terraform" {
		checkState(t, d, course)
	}
}

func checkState(t *testing.T, d *record.Deployment, strategy string) {
	t.Helper()
	data, violations := ecs.DecodePatch(strictjson.MustParse(string(d.Data.JSON())))
	if len(violations) > 0 {
		t.Fatalf("%s: %v", d.ID, violations)
	}
	state := data.ServiceDeploymentState
	checkWeights(t, d.ID, state)
	if *state.Status != "SUCCESSFUL" || *state.Strategy != strategy || *state.TargetServiceRevision.RequestedProductionTrafficWeight != 100 {
		t.Errorf("%s is left as %s %s with %d %% of the traffic", d.ID, *state.Strategy, *state.Status,
			*state.TargetServiceRevision.RequestedProductionTrafficWeight)
	}
	if len(state.SourceServiceRevisions) != 1 || *state.SourceServiceRevisions[0].RunningTaskCount != 0 {
		t.Errorf("%s: what runs of the revision before: %+v", d.ID, state.SourceServiceRevisions)
	}
	if *state.SourceServiceRevisions[0].ServiceRevisionARN == *state.TargetServiceRevision.ServiceRevisionARN {
		t.Errorf("%s goes from a revision to itself", d.ID)
	}
	to := groups(t, d)
	if shifted := len(to) == 2 && to[0] != to[1]; shifted != (strategy == "BLUE_GREEN") {
		t.Errorf("%s: the traffic of %s went to %v", d.ID, strategy, to)
	}
}

// groups are the target groups that the listeners have sent requests to, one after the other.
func groups(t *testing.T, d *record.Deployment) (names []string) {
	t.Helper()
	data, err := d.Data.Data()
	if err != nil {
		t.Fatal(err)
	}
	if data != nil {
		for _, state := range data.ELBListenerState {
			names = append(names, *state.Rules[0].TargetGroupName)
		}
	}
	return names
}

// checkFailure holds that a deployment failed and another is live as before.
func checkFailure(t *testing.T, d, live *record.Deployment, before string) {
	t.Helper()
	if d.Status != entdeployment.StatusFAILED || d.Error.Code != string(fault.DeploymentFailed) || d.Error.Description == "" {
		t.Fatalf("%s is %s: %+v", d.ID, d.Status, d.Error)
	}
	if live.ID != before {
		t.Errorf("live is %s, was %s", live.ID, before)
	}
	if d.DeploymentType != ecs.Type {
		return
	}
	data, violations := ecs.DecodePatch(strictjson.MustParse(string(d.Data.JSON())))
	if len(violations) > 0 {
		t.Fatal(violations)
	}
	checkWeights(t, d.ID, data.ServiceDeploymentState)
	last := data.Events[len(data.Events)-1]
	if *data.ServiceDeploymentState.Status != "ROLLBACK_SUCCESSFUL" || !strings.Contains(*last.Message, "health checks") ||
		*data.RevertExternalDeploymentID != *live.ExternalDeploymentID {
		t.Errorf("%s was left as %s, after %q", d.ID, *data.ServiceDeploymentState.Status, *last.Message)
	}
}
