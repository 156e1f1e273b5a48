package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"slipway-ecs/internal/test/fake"
)

func TestADestroyLeavesNothingBehindAndCanBeCarriedOutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shifting("BLUE_GREEN", nil))
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:2"
	w.mustDeploy("dep_2", 2)
	for n, id := range []string{"dep_3", "dep_4"} {
		if e := w.destroy(id, 3+n); e.code != 0 || !e.said("The service is gone.") {
			t.Errorf("%s ended with %d: %s", id, e.code, e.stderr)
		}
		if services, definitions := w.cloud.Services(), w.cloud.TaskDefinitions(); len(services) != 0 || len(definitions) != 0 {
			t.Errorf("%d services and %d task definitions are left", len(services), len(definitions))
		}
	}
	if n := w.cloud.Calls("DeleteService"); n != 1 {
		t.Errorf("the service was deleted %d times", n)
	}
	w.mustDeploy("dep_5", 5)
	if len(w.cloud.Services()) != 1 {
		t.Error("it does not come back")
	}
}

func TestADestroyLeavesWhatIsNotOfTheInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	w.instance = "inst_2"
	if e := w.destroy("dep_2", 1); e.code != 1 || !strings.Contains(e.stderr, "belongs to the module instance inst_1, and this is inst_2") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
	if len(w.cloud.Services()) != 1 || len(w.cloud.TaskDefinitions()) != 1 || w.cloud.Calls("DeleteService") != 0 {
		t.Error("something of the other instance is gone")
	}
}

func TestATaskDefinitionThatWasOnlyNamedStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := w.mustDeploy("dep_1", 1).outputs["task_definition_arn"].(string)
	other := *w
	other.instance, other.inputs = "inst_2", map[string]any{
		"service_name": "other", "cluster_arn": w.inputs["cluster_arn"], "count": 1, "subnet_ids": []string{"subnet-1"},
	}
	other.artifact = map[string]any{"arn": first, "revision": 1}
	if e := other.mustDeploy("dep_2", 1); e.outputs["task_definition_arn"] != first {
		t.Errorf("it runs %v, want %s", e.outputs["task_definition_arn"], first)
	}
	if e := other.destroy("dep_3", 2); e.code != 0 || len(w.cloud.TaskDefinitions()) != 1 {
		t.Errorf("it ended with %d: %s; %d task definitions are left", e.code, e.stderr, len(w.cloud.TaskDefinitions()))
	}
}

// While a destroy is at its end, the service is gone, and with it the fence.
func TestADestroyLeavesTheTaskDefinitionsOfALaterDeployment(t *testing.T) {
	t.Parallel()
	for moment, killed := range map[string]bool{"that runs": false, "that has only registered its own": true} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.mustDeploy("dep_1", 1)
			later := *w
			later.inputs = map[string]any{"image": "web:later"}
			for name, value := range w.inputs {
				if name != "image" {
					later.inputs[name] = value
				}
			}
			overtaken := false
			kill := &strike{signal: os.Kill, when: func(c fake.Call) bool { return killed && c.Operation == "CreateService" }}
			w.cloud.Intercept = func(c fake.Call) fake.Verdict {
				if c.Operation != "ListTaskDefinitions" || overtaken {
					return kill.intercept(c)
				}
				overtaken = true
				if e := kill.begin(&later, "dep_3", 3, "apply").end(); kill.struck != killed || !killed && e.code != 0 {
					t.Errorf("the later one ended with %d: %s", e.code, e.stderr)
				}
				return fake.Verdict{}
			}
			e := w.destroy("dep_2", 2)
			if killed && e.code != 0 || !killed && (e.code != 1 || !strings.Contains(e.stderr, "a later deployment has the service: its fence is 3")) {
				t.Errorf("overtaken: %t; it ended with %d: %s", overtaken, e.code, e.stderr)
			}
			images := map[string]bool{}
			for _, d := range w.cloud.TaskDefinitions() {
				images[aws.ToString(d.ContainerDefinitions[0].Image)] = true
			}
			if !images["web:later"] || killed && images["web:1"] {
				t.Errorf("there are the task definitions of %v", images)
			}
		})
	}
}
