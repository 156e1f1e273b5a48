package main_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"slipway-ecs/internal/test/fake"
)

// strike sends a signal to the program the first time that a request meets a condition. What was to be carried out after a kill is
// not carried out.
type strike struct {
	mu     sync.Mutex
	signal os.Signal
	when   func(fake.Call) bool
	at     *run
	struck bool
}

func (s *strike) intercept(c fake.Call) fake.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.struck || s.at == nil || !s.when(c) {
		return fake.Verdict{}
	}
	s.struck = true
	_ = s.at.command.Process.Signal(s.signal)
	return fake.Verdict{Lose: s.signal == os.Kill}
}

// begin starts the program so that the strike can meet it.
func (s *strike) begin(w *world, id string, fenceNumber int, action string) *run {
	s.mu.Lock() // no request is looked at before it is known whose they are
	defer s.mu.Unlock()
	s.at = w.begin(id, fenceNumber, action, nil)
	return s.at
}

// moments are the places at which a program can be struck: before and after each request that changes something, and at each
// stage.
func moments(operations, stages []string) map[string]func(fake.Call) bool {
	all := map[string]func(fake.Call) bool{}
	for _, operation := range operations {
		all["before "+operation] = func(c fake.Call) bool { return c.Operation == operation && !c.Done }
		all["after "+operation] = func(c fake.Call) bool { return c.Operation == operation && c.Done }
	}
	for _, stage := range stages {
		all["at "+stage] = func(c fake.Call) bool {
			return c.Operation == "DescribeServiceDeployments" && c.Done && (c.Stage == stage || c.Stage == "" && c.Status == stage)
		}
	}
	return all
}

var (
	updating  = []string{"RegisterTaskDefinition", "TagResource", "UpdateService"}
	allStages = []string{
		"PRE_SCALE_UP", "SCALE_UP", "POST_SCALE_UP", "TEST_TRAFFIC_SHIFT", "POST_TEST_TRAFFIC_SHIFT", "PRE_PRODUCTION_TRAFFIC_SHIFT",
		"PRODUCTION_TRAFFIC_SHIFT", "POST_PRODUCTION_TRAFFIC_SHIFT", "BAKE_TIME", "CLEAN_UP",
	}
)

// checkWhole checks that there is one service, with one task definition for each deployment that has one, and no more service
// deployments than there may be.
func checkWhole(t *testing.T, w *world, most int) {
	t.Helper()
	if n := len(w.cloud.Services()); n != 1 {
		t.Errorf("there are %d services", n)
	}
	of := map[string]int{}
	for _, d := range w.cloud.TaskDefinitions() {
		for _, tag := range d.Tags {
			if *tag.Key == "slipway:deployment" {
				of[*tag.Value]++
			}
		}
	}
	for id, n := range of {
		if n != 1 {
			t.Errorf("%s has registered %d task definitions", id, n)
		}
	}
	if n := len(w.cloud.Deployments()); n > most {
		t.Errorf("there are %d service deployments, at most %d may be", n, most)
	}
}

func TestAProgramThatWasKilledIsGoneOnWithOrSuperseded(t *testing.T) {
	t.Parallel()
	type scenario struct {
		first   bool // it is the first deployment of the instance
		inputs  map[string]any
		moments map[string]func(fake.Call) bool
	}
	for kind, s := range map[string]scenario{
		"creating":   {true, nil, moments([]string{"RegisterTaskDefinition", "CreateService"}, []string{"IN_PROGRESS"})},
		"updating":   {false, nil, moments(updating, []string{"IN_PROGRESS", "SUCCESSFUL"})},
		"blue/green": {false, shifting("BLUE_GREEN", nil), moments(updating, allStages)},
	} {
		for moment, when := range s.moments {
			for _, next := range []string{"dep_2", "dep_3"} { // the same again, and another one
				t.Run(fmt.Sprintf("%s/%s/%s", kind, moment, next), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, s.inputs)
					most := 0
					if !s.first {
						w.mustDeploy("dep_1", 1)
						most++
					}
					w.inputs["image"] = "web:2"
					strike := &strike{signal: os.Kill, when: when}
					w.cloud.Intercept = strike.intercept
					if e := strike.begin(w, "dep_2", 2, "apply").end(); !strike.struck || e.code != -1 {
						t.Fatalf("struck: %t; it ended with %d: %s", strike.struck, e.code, e.stderr)
					}
					begun := len(w.cloud.Deployments()) - most
					if next != "dep_2" {
						w.inputs["image"] = "web:3"
						most += begun // of the one that was killed
					}
					e := w.mustDeploy(next, 3)
					checkWhole(t, w, most+1)
					newest := w.cloud.Deployments()[len(w.cloud.Deployments())-1]
					if e.data["serviceDeploymentArn"] != *newest.ServiceDeploymentArn || newest.Status != "SUCCESSFUL" {
						t.Errorf("it followed %v, and the newest is %s, %s", e.data["serviceDeploymentArn"], *newest.ServiceDeploymentArn, newest.Status)
					}
					if got, want := imageOf(w, *w.cloud.Services()[0].TaskDefinition), w.inputs["image"]; got != want {
						t.Errorf("it runs %s, want %s", got, want)
					}
					if e := w.destroy("dep_4", 4); e.code != 0 || len(w.cloud.Services())+len(w.cloud.TaskDefinitions()) != 0 {
						t.Errorf("destroyed, %d: %s; %d services are left", e.code, e.stderr, len(w.cloud.Services()))
					}
				})
			}
		}
	}
}

func TestADestroyThatWasKilledOrStoppedIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for moment, when := range moments([]string{"TagResource", "UpdateService", "DeleteService", "DeregisterTaskDefinition"}, nil) {
		for _, signal := range []os.Signal{os.Kill, syscall.SIGTERM} {
			t.Run(fmt.Sprintf("%s/%s", moment, signal), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.mustDeploy("dep_1", 1)
				w.inputs["image"] = "web:2"
				w.mustDeploy("dep_2", 2)
				calls := w.cloud.Calls("TagResource") + w.cloud.Calls("UpdateService")
				strike := &strike{signal: signal, when: func(c fake.Call) bool {
					return when(c) && w.cloud.Calls("TagResource")+w.cloud.Calls("UpdateService") > calls
				}}
				w.cloud.Intercept = strike.intercept
				e := strike.begin(w, "dep_3", 3, "destroy").end()
				if !strike.struck || signal == os.Kill && e.code != -1 {
					t.Fatalf("struck: %t; it ended with %d: %s", strike.struck, e.code, e.stderr)
				}
				if signal == syscall.SIGTERM && e.code != 0 && (e.code != 75 || !strings.Contains(e.stderr, "destroy it again to go on")) {
					t.Errorf("it ended with %d: %s", e.code, e.stderr)
				}
				if e := w.destroy("dep_4", 4); e.code != 0 || len(w.cloud.Services())+len(w.cloud.TaskDefinitions()) != 0 {
					t.Errorf("destroyed again, %d: %s; %d services are left", e.code, e.stderr, len(w.cloud.Services()))
				}
			})
		}
	}
}
