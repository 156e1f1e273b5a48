package main_test

import (
	"net/http"
	"testing"

	"slipway-ecs/internal/test/fake"
)

// A redeploy forces a service deployment of the task definition that runs already, so each UpdateService begins one more.
func TestWhatMayHaveBeenCarriedOutIsLookedForAndNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(fake.Call) fake.Verdict{
		"the answer is lost": func(c fake.Call) fake.Verdict { return fake.Verdict{Lose: c.Done} },
		"AWS fails after it": func(c fake.Call) fake.Verdict {
			return fake.Verdict{Code: "ServerException", HTTPStatus: http.StatusInternalServerError}
		},
	} {
		for operation, want := range map[string]int{"RegisterTaskDefinition": 1, "UpdateService": 1, "CreateService": 2} {
			t.Run(operation+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				if operation == "UpdateService" {
					first := w.mustDeploy("dep_1", 1).outputs["task_definition_arn"]
					delete(w.inputs, "image")
					w.artifact = map[string]any{"arn": first}
					w.inputs["container_name"] = "app"
				}
				begun := len(w.cloud.Deployments())
				hit := false
				w.cloud.Intercept = func(c fake.Call) fake.Verdict {
					if c.Operation != operation || hit || !c.Done {
						return fake.Verdict{}
					}
					hit = true
					return lost(c)
				}
				w.mustDeploy("dep_2", 2)
				if n := w.cloud.Calls(operation); !hit || n != want {
					t.Errorf("hit: %t; it was sent %d times, want %d", hit, n, want)
				}
				if n := len(w.cloud.Deployments()) - begun; n != 1 || len(w.cloud.Services()) != 1 || len(w.cloud.TaskDefinitions()) != 1 {
					t.Errorf("it has begun %d service deployments; there are %d services and %d task definitions",
						n, len(w.cloud.Services()), len(w.cloud.TaskDefinitions()))
				}
			})
		}
	}
}
