package main_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

func TestADeploymentWithAnEarlierFenceChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_10", 10) // 9 is the greater text
	for action, e := range map[string]*ended{"deployed": w.deploy("dep_9", 9), "destroyed": w.destroy("dep_8", 8)} {
		if e.code != 1 || !strings.Contains(e.stderr, "a later deployment has the service: its fence is 10, and that of this deployment ") {
			t.Errorf("%s, it ended with %d: %s", action, e.code, e.stderr)
		}
	}
	for _, operation := range []string{"UpdateService", "TagResource", "DeleteService", "DeregisterTaskDefinition"} {
		if n := w.cloud.Calls(operation); n != 0 {
			t.Errorf("%s was sent %d times", operation, n)
		}
	}
	if n := w.cloud.Calls("RegisterTaskDefinition"); n != 1 {
		t.Errorf("%d task definitions were registered", n)
	}
}

// Of two runners the one that was too late finds it out wherever it stands, and the service is as the later one has it.
func TestOfTwoRunnersTheLaterFenceHasTheService(t *testing.T) {
	t.Parallel()
	for operation, calls := range map[string]int{"RegisterTaskDefinition": 2, "TagResource": 1, "UpdateService": 1} {
		t.Run(operation, func(t *testing.T) {
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
			var overtaken bool
			w.cloud.Intercept = func(c fake.Call) fake.Verdict {
				if c.Operation == "DescribeServices" && !c.Done && w.cloud.Calls(operation) == calls && !overtaken {
					overtaken = true
					later.mustDeploy("dep_3", 3)
				}
				return fake.Verdict{}
			}
			e := w.deploy("dep_2", 2)
			if !overtaken || e.code != 1 {
				t.Fatalf("overtaken: %t; it ended with %d: %s", overtaken, e.code, e.stderr)
			}
			if got := aws.ToString(w.cloud.Services()[0].TaskDefinition); imageOf(w, got) != "web:later" {
				t.Errorf("the service runs %s with %s", got, imageOf(w, got))
			}
		})
	}
}

func imageOf(w *world, definition string) string {
	for _, d := range w.cloud.TaskDefinitions() {
		if aws.ToString(d.TaskDefinitionArn) == definition {
			return aws.ToString(d.ContainerDefinitions[0].Image)
		}
	}
	return ""
}

func TestAServiceOfSomebodyElseIsTakenOverOnlyOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	definition := w.mustDeploy("dep_1", 1).outputs["task_definition_arn"].(string)
	client := clientOf(t, w)
	_, err := client.CreateService(t.Context(), &ecs.CreateServiceInput{
		ServiceName: aws.String("old"), Cluster: aws.String(fake.Cluster), TaskDefinition: &definition, DesiredCount: aws.Int32(1),
		LaunchType: types.LaunchTypeFargate, NetworkConfiguration: inSubnet("subnet-9"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.instance, w.inputs["service_name"] = "inst_2", "old"
	if e := w.deploy("dep_2", 1); e.code != 1 || !strings.Contains(e.stderr, "Slipway has not made it") || w.cloud.Calls("UpdateService") != 0 {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
	w.inputs["adopt"] = true
	w.mustDeploy("dep_3", 2)
	if len(w.cloud.Services()) != 2 {
		t.Errorf("there are %d services", len(w.cloud.Services()))
	}
}

func TestWhatWasChangedOutsideIsSaidAndReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	live := w.mustDeploy("dep_1", 1).outputs["task_definition_arn"].(string)
	w.inputs["image"] = "web:2"
	w.mustDeploy("dep_2", 2)
	if err := w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("web"), TaskDefinition: &live}); err != nil {
		t.Fatal(err)
	}
	w.inputs["image"] = "web:3"
	e := w.begin("dep_3", 3, "apply", map[string]any{"previousTaskDefinition": map[string]any{"arn": "arn:aws:ecs:x:1:task-definition/web:2"}}).end()
	if e.code != 0 || !e.said("The service was changed outside: it runs "+live) {
		t.Errorf("it ended with %d: %s %v", e.code, e.stderr, e.events)
	}
	if n := len(w.cloud.Deployments()); n != 4 {
		t.Errorf("there are %d service deployments, want 4", n)
	}
	if got := imageOf(w, *w.cloud.Services()[0].TaskDefinition); got != "web:3" {
		t.Errorf("it runs %s", got)
	}
}

func TestWhatSomebodyStartsRightBeforeTheUpdateIsNotTakenForOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	other := many(t, w, "other", 1)
	began := false
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		if c.Operation == "UpdateService" && !c.Done && !began {
			began = true
			if err := w.cloud.UpdateOutside(&ecs.UpdateServiceInput{Service: aws.String("web"), TaskDefinition: &other}); err != nil {
				t.Error(err)
			}
		}
		return fake.Verdict{}
	}
	w.inputs["image"] = "web:2"
	e := w.mustDeploy("dep_2", 2)
	if all := w.cloud.Deployments(); len(all) != 3 || e.data["serviceDeploymentArn"] != *all[2].ServiceDeploymentArn {
		t.Errorf("of %d service deployments it followed %v", len(all), e.data["serviceDeploymentArn"])
	}
}
