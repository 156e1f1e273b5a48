package main_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"slipway-ecs/internal/test/fake"
)

func TestAProgramThatIsToEndGoesBackToTheEarlierRevision(t *testing.T) {
	t.Parallel()
	for kind, s := range map[string]struct {
		inputs  map[string]any
		moments map[string]func(fake.Call) bool
	}{
		"rolling":    {nil, moments(updating, []string{"IN_PROGRESS"})},
		"blue/green": {shifting("BLUE_GREEN", nil), moments([]string{"UpdateService"}, allStages)},
		"canary":     {shifting("CANARY", nil), moments(nil, []string{"PRODUCTION_TRAFFIC_SHIFT"})},
	} {
		for moment, when := range s.moments {
			t.Run(kind+"/"+moment, func(t *testing.T) {
				t.Parallel()
				w, live, strike, e := struckInTime(t, s.inputs, when)
				if !strike.struck || e.code != 75 || e.outputs != nil {
					t.Fatalf("struck: %t; it ended with %d: %s", strike.struck, e.code, e.stderr)
				}
				all := w.cloud.Deployments()
				want := "the deployment was stopped: the service deployment"
				if len(all) == 1 { // it was stopped before ECS was asked for anything
					want = "the deployment was stopped before the service deployment began"
				} else if all[1].Status != "ROLLBACK_SUCCESSFUL" || e.data["revertRequestedAt"] == nil {
					t.Errorf("the service deployment is %s, reverted at %v", all[1].Status, e.data["revertRequestedAt"])
				}
				if !strings.Contains(e.stderr, want) {
					t.Errorf("it says %s", e.stderr)
				}
				if got := w.cloud.Services()[0]; aws.ToString(got.TaskDefinition) != live || got.RunningCount != 2 {
					t.Errorf("it runs %d of %s, want %s", got.RunningCount, aws.ToString(got.TaskDefinition), live)
				}
				checkWhole(t, w, 2)
			})
		}
	}
}

// struckInTime has a program that updates a service be told to end at a moment. On a busy machine it may hear of that only once
// it has succeeded, which is as it should be; then another is tried.
func struckInTime(t *testing.T, inputs map[string]any, when func(fake.Call) bool) (w *world, live any, s *strike, e *ended) {
	t.Helper()
	for range 5 {
		w = newWorld(t, inputs)
		live = w.mustDeploy("dep_1", 1).outputs["task_definition_arn"]
		w.inputs["image"] = "web:2"
		s = &strike{signal: syscall.SIGTERM, when: when}
		w.cloud.Intercept = s.intercept
		if e = s.begin(w, "dep_2", 2, "apply").end(); e.code != 0 {
			break
		}
	}
	return w, live, s, e
}

func TestAProgramThatIsToEndHasNothingToGoBackToAtFirst(t *testing.T) {
	t.Parallel()
	for moment, when := range moments([]string{"CreateService"}, []string{"IN_PROGRESS"}) {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			strike := &strike{signal: syscall.SIGTERM, when: when}
			w.cloud.Intercept = strike.intercept
			e := strike.begin(w, "dep_1", 1, "apply").end()
			if !strike.struck || e.code != 75 || !strings.Contains(e.stderr, "the service has no earlier revision to go back to") {
				t.Errorf("struck: %t; it ended with %d: %s", strike.struck, e.code, e.stderr)
			}
			if n := w.cloud.Calls("StopServiceDeployment"); n != 0 {
				t.Errorf("it was stopped %d times", n)
			}
		})
	}
}

func TestAProgramThatIsKilledWhileItGoesBackLeavesThatToECS(t *testing.T) {
	t.Parallel()
	for moment, when := range moments([]string{"StopServiceDeployment"}, nil) {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.mustDeploy("dep_1", 1)
			w.inputs["image"] = "web:2"
			term := &strike{signal: syscall.SIGTERM, when: moments(nil, []string{"IN_PROGRESS"})["at IN_PROGRESS"]}
			kill := &strike{signal: os.Kill, when: when}
			w.cloud.Intercept = func(c fake.Call) fake.Verdict {
				term.intercept(c)
				return kill.intercept(c)
			}
			term.mu.Lock()
			r := kill.begin(w, "dep_2", 2, "apply")
			term.at = r
			term.mu.Unlock()
			if e := r.end(); !kill.struck || e.code != -1 {
				t.Fatalf("killed: %t; it ended with %d: %s", kill.struck, e.code, e.stderr)
			}
			w.inputs["image"] = "web:3"
			w.mustDeploy("dep_3", 3)
			checkWhole(t, w, 3)
		})
	}
}

func TestAStopWhoseAnswerIsLostOrThrottledIsAskedForAgain(t *testing.T) {
	t.Parallel()
	throttled := fake.Verdict{Code: "ThrottlingException", Message: "Rate exceeded"} // one request is tried 10 times
	for name, fault := range map[string]struct {
		operation string
		done      bool
		verdict   fake.Verdict
		times     int
	}{
		"the request is lost":            {"StopServiceDeployment", false, fake.Verdict{Lose: true}, 1},
		"the answer is lost":             {"StopServiceDeployment", true, fake.Verdict{Lose: true}, 1},
		"it is throttled":                {"StopServiceDeployment", false, throttled, 15},
		"AWS says that it cannot be now": {"StopServiceDeployment", true, fake.Verdict{Code: "ConflictException", Message: "It is stopped already."}, 1},
		"it is not seen once":            {"StopServiceDeployment", false, fake.Verdict{Unseen: true}, 1},
		"its fence is throttled":         {"DescribeServices", false, throttled, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shifting("CANARY", nil))
			w.mustDeploy("dep_1", 1)
			w.inputs["image"] = "web:2"
			hit := 0
			stop := &strike{signal: syscall.SIGTERM, when: moments(nil, []string{"PRODUCTION_TRAFFIC_SHIFT"})["at PRODUCTION_TRAFFIC_SHIFT"]}
			w.cloud.Intercept = func(c fake.Call) fake.Verdict {
				if c.Operation == fault.operation && c.Stage == "PRODUCTION_TRAFFIC_SHIFT" && c.Done == fault.done && hit < fault.times {
					hit++
					return fault.verdict
				}
				return stop.intercept(c)
			}
			e := stop.begin(w, "dep_2", 2, "apply").end()
			if status := w.cloud.Deployments()[1].Status; hit != fault.times || e.code != 75 || status != "ROLLBACK_SUCCESSFUL" {
				t.Errorf("hit %d times, it ended with %d: %s; the service deployment is %s", hit, e.code, e.stderr, status)
			}
		})
	}
}

func TestAStopThatIsRefusedSaysThatECSGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:2"
	stop := &strike{signal: syscall.SIGTERM, when: moments(nil, []string{"IN_PROGRESS"})["at IN_PROGRESS"]}
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		if c.Operation == "StopServiceDeployment" {
			return fake.Verdict{Code: "AccessDeniedException", Message: "no"}
		}
		return stop.intercept(c)
	}
	e := stop.begin(w, "dep_2", 2, "apply").end()
	const want = "the deployment was stopped: ECS goes on, because it could not be stopped: StopServiceDeployment was refused: AccessDeniedException: no (request "
	if e.code != 75 || !strings.HasPrefix(e.stderr, want) || strings.Contains(e.stderr, "\n") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
}

func TestWhatTakesTooLongGoesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shifting("BLUE_GREEN", map[string]any{"timeout_minutes": 30}))
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:broken" // ECS goes on trying
	began := w.cloud.Clock.Now()
	e := w.deploy("dep_2", 2)
	if e.code != 1 || !strings.HasPrefix(e.stderr, "the service deployment had not ended after 30 minutes: the service deployment arn:aws:ecs:") ||
		!strings.Contains(e.stderr, "ended as ROLLBACK_SUCCESSFUL") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
	if took := w.cloud.Clock.Now().Sub(began).Minutes(); took < 30 || took > 35 {
		t.Errorf("it took %g minutes", took)
	}
}
