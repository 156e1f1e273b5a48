package main_test

import (
	"strings"
	"testing"
	"time"

	"slipway-ecs/internal/test/fake"
)

// paused returns a world whose next deployment waits at a pause, and what somebody decides there once the program has seen it.
func paused(t *testing.T, decide func(w *world, deployment, hook string)) *world {
	t.Helper()
	w := newWorld(t, shifting("BLUE_GREEN", map[string]any{"pause_stages": []string{"POST_TEST_TRAFFIC_SHIFT"}, "pause_minutes": 10}))
	first := w.cloud
	first.Intercept = func(c fake.Call) fake.Verdict {
		// The look after the one that has shown the pause.
		if c.Operation != "DescribeServiceDeployments" || !c.Done {
			return fake.Verdict{}
		}
		for _, d := range w.cloud.Deployments() {
			for _, h := range d.LifecycleHookDetails {
				if h.Status == "AWAITING_ACTION" {
					decide(w, *d.ServiceDeploymentArn, *h.HookId)
				}
			}
		}
		return fake.Verdict{}
	}
	return w
}

// after calls a function at the second call, so that what happens at the first has been seen.
func after(seen *int, decide func()) {
	if *seen++; *seen == 2 {
		decide()
	}
}

func TestAPauseThatSomebodyContinuesIsReported(t *testing.T) {
	t.Parallel()
	seen := 0
	w := paused(t, func(w *world, deployment, hook string) {
		after(&seen, func() {
			if err := w.cloud.Continue(deployment, hook, true); err != nil {
				t.Error(err)
			}
		})
	})
	e := w.mustDeploy("dep_1", 1)
	got, _ := e.data["acceptedPauseControl"].(map[string]any)
	truth := map[string]fake.Event{}
	for _, event := range w.cloud.Events() {
		truth[event.Detail["eventName"].(string)] = event
	}
	waited, accepted := truth["HOOK_AWAITING_ACTION"], truth["HOOK_SUCCEEDED"]
	if got["hookId"] != waited.Detail["hookId"] || got["lifecycleStage"] != "POST_TEST_TRAFFIC_SHIFT" ||
		got["eventStartedAt"] != waited.Detail["updatedAt"] || got["acceptedAt"] != accepted.Detail["updatedAt"] {
		t.Errorf("the pause is %v, want %v from %v to %v", got, waited.Detail["hookId"], waited.Detail["updatedAt"], accepted.Detail["updatedAt"])
	}
	if !e.said("aws ecs continue-service-deployment --service-deployment-arn") || e.data["preDeployEnabled"] != true || e.data["postDeployEnabled"] != false {
		t.Errorf("it said %v; hooks before %v and after %v", e.events, e.data["preDeployEnabled"], e.data["postDeployEnabled"])
	}
}

func TestAPauseThatSomebodyRefusesIsRolledBack(t *testing.T) {
	t.Parallel()
	seen := 0
	w := paused(t, func(w *world, deployment, hook string) {
		after(&seen, func() {
			first := len(w.cloud.Deployments()) == 1
			if err := w.cloud.Continue(deployment, hook, first); err != nil {
				t.Error(err)
			}
			if first {
				seen = 0
			}
		})
	})
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:2"
	e := w.deploy("dep_2", 2)
	if e.code != 1 || !strings.Contains(e.stderr, "ended as ROLLBACK_SUCCESSFUL: Service deployment rolled back because of a lifecycle hook") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
	if e.data["acceptedPauseControl"] != nil || e.data["revertRequestedAt"] == nil || e.data["revertServiceDeploymentArn"] == nil {
		t.Errorf("the record is %v", e.data)
	}
	if served(e, 0) != "blue blue" || served(e, 1) != "blue blue" {
		t.Errorf("the listeners led to %s, and then to %s", served(e, 0), served(e, 1))
	}
}

func TestAPauseWhoseTimeIsOverWasAcceptedByNobody(t *testing.T) {
	t.Parallel()
	w := paused(t, func(w *world, _, _ string) { w.cloud.Clock.Advance(time.Minute) })
	w.inputs["pause_action"] = "CONTINUE"
	if e := w.mustDeploy("dep_1", 1); e.data["acceptedPauseControl"] != nil {
		t.Errorf("it was accepted: %v", e.data["acceptedPauseControl"])
	}
}
