package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// withDefinition returns a world whose artifact has a task definition.
func withDefinition(t *testing.T, definition any) *world {
	t.Helper()
	w := newWorld(t, nil)
	delete(w.inputs, "image")
	text, err := json.Marshal(map[string]any{"definition": definition})
	if err == nil {
		err = json.Unmarshal(text, &w.artifact) // as Slipway has it
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func container(members map[string]any) map[string]any {
	all := map[string]any{"name": "app", "image": "web:1", "essential": true, "portMappings": []any{map[string]any{"containerPort": 8080}}}
	for name, value := range members {
		all[name] = value
	}
	return all
}

func definitionOf(containers ...map[string]any) map[string]any {
	return map[string]any{
		"containerDefinitions": containers, "networkMode": "awsvpc", "cpu": "256", "memory": "512", "requiresCompatibilities": []string{"FARGATE"},
	}
}

func TestADefinitionOfTheWrongShapeIsAWrongInput(t *testing.T) {
	t.Parallel()
	for want, definition := range map[string]any{
		"/release/artifact/definition must be an object, found a text":                                                         "web:1",
		"/release/artifact/definition must be an object, found a list":                                                         []any{},
		"/release/artifact/definition/containerDefinitions must be a list, found an object":                                    map[string]any{"containerDefinitions": map[string]any{}},
		"/release/artifact/definition/containerDefinitions must have at least one container":                                   map[string]any{},
		"/release/artifact/definition/containerDefinitions/0/name must be there":                                               definitionOf(container(map[string]any{"name": nil})),
		"/release/artifact/definition/containerDefinitions/1/image must be there":                                              definitionOf(container(nil), container(map[string]any{"name": "b", "image": ""})),
		"/release/artifact/definition/containerDefinitions/1/name must be another than that of the container 0, found \"app\"": definitionOf(container(nil), container(nil)),
		"/release/artifact/definition/containerDefinitions/0/essential must be true or false, found a text":                    definitionOf(container(map[string]any{"essential": "yes"})),
		"/release/artifact/definition/containerDefinitions/0/portMappings/0/containerPort must be a whole number, found 80.5": definitionOf(
			container(map[string]any{"portMappings": []any{map[string]any{"containerPort": 80.5}}})),
		"/release/artifact/definition/containerDefinitions/0/dockerLabels/a~1b must be a text, found 1": definitionOf(
			container(map[string]any{"dockerLabels": map[string]any{"a/b": 1}})),
		"/release/artifact/definition/containerDefinitions/0/ports is not known; there are command, cpu, ": definitionOf(container(map[string]any{"ports": []any{}})),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := withDefinition(t, definition)
			e := w.deploy("dep_1", 1)
			if e.code != 2 || !strings.HasPrefix(e.stderr, want) {
				t.Errorf("it ended with %d: %s", e.code, e.stderr)
			}
			if n := w.cloud.Calls("DescribeServices"); n != 0 {
				t.Errorf("AWS was asked %d times", n)
			}
		})
	}
}

func TestEverythingThatIsWrongWithADefinitionIsSaid(t *testing.T) {
	t.Parallel()
	w := withDefinition(t, map[string]any{"cpu": 256, "memory": 512, "families": "x", "containerDefinitions": []any{1}})
	w.inputs["count"] = -1
	e := w.deploy("dep_1", 1)
	for _, pointer := range []string{"/definition/cpu ", "/definition/memory ", "/definition/families ", "/definition/containerDefinitions/0 ", "/inputs/count "} {
		if e.code != 2 || !strings.Contains(e.stderr, pointer) {
			t.Errorf("it ended with %d, without %s: %s", e.code, pointer, e.stderr)
		}
	}
}

// What describe-task-definition shows can be deployed again, with the tags that an earlier deployment gave it.
func TestADefinitionThatAWSShowsIsTaken(t *testing.T) {
	t.Parallel()
	definition := definitionOf(container(nil))
	definition["tags"] = []any{map[string]any{"key": "slipway:deployment", "value": "dep_0"}, map[string]any{"key": "team", "value": "web"}}
	definition["revision"], definition["status"], definition["registeredAt"] = 7, "ACTIVE", 1.5
	w := withDefinition(t, definition)
	if e := w.deploy("dep_1", 1); e.code != 0 {
		t.Fatalf("it ended with %d: %s", e.code, e.stderr)
	}
	tags := map[string]string{}
	for _, tag := range w.cloud.TaskDefinitions()[0].Tags {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	if tags["slipway:deployment"] != "dep_1" || tags["team"] != "web" || len(tags) != 4 {
		t.Errorf("its tags are %v", tags)
	}
}
