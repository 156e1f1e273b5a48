package requests_test

import (
	"encoding/json"
	"strings"
	"testing"

	"slipway/bench/data"
	"slipway/bench/requests"
	"slipway/internal/base/id"
)

// answer is the right one to A.
func answer(t *testing.T, w data.World, deploymentID string) map[string]any {
	t.Helper()
	for n := range w.Deployments {
		if d := w.Deployment(n); d.ID() == deploymentID {
			return map[string]any{
				"id": d.ID(), "organizationId": data.ID(id.Organization, data.OrganizationOf(d.Environment)),
				"projectId": data.ID(id.Project, data.ProjectOf(d.Environment)), "environmentId": data.ID(id.Environment, d.Environment),
				"moduleInstanceId": d.Instance().ID(), "deploymentType": data.DeploymentType, "triggerSource": d.TriggerSource(),
				"description": d.Description(), "startedAt": d.StartedAt(), "completedAt": d.CompletedAt(),
				"resourceName": d.ResourceName(), "createdAt": d.CreatedAt(),
			}
		}
	}
	t.Fatalf("there is no %s", deploymentID)
	return nil
}

func TestWrongAnswersAreFound(t *testing.T) {
	t.Parallel()
	w := data.World{Deployments: 1000}
	kind := requests.All()[0]
	call, _ := kind.Calls(w, requests.Share{Of: 1})()
	deploymentID := strings.Split(call.Variables, `"`)[3]
	for name, c := range map[string]struct {
		change func(answer, deployment map[string]any)
		want   string
	}{
		"right":         {func(_, _ map[string]any) {}, ""},
		"another value": {func(_, d map[string]any) { d["description"] = "x" }, "data.deployment.description is to be"},
		"another time":  {func(_, d map[string]any) { d["createdAt"] = "2026-01-01T00:00:00.5Z" }, "data.deployment.createdAt is to be"},
		"same instant": {func(_, d map[string]any) {
			d["createdAt"] = strings.Replace(d["createdAt"].(string), "Z", "+00:00", 1)
		}, ""},
		"no time":       {func(_, d map[string]any) { d["startedAt"] = nil }, "data.deployment.startedAt is to be"},
		"a member less": {func(_, d map[string]any) { delete(d, "id") }, "data.deployment is to have"},
		"a member more": {func(_, d map[string]any) { d["x"] = 1 }, "data.deployment is to have"},
		"null":          {func(a, _ map[string]any) { a["data"] = map[string]any{"deployment": nil} }, "data.deployment is to be an object"},
		"errors":        {func(a, _ map[string]any) { a["errors"] = []any{} }, "it has errors"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(map[string]any{"data": map[string]any{"deployment": answer(t, w, deploymentID)}})
			if err != nil {
				t.Fatal(err)
			}
			var whole map[string]any
			if err := json.Unmarshal(text, &whole); err != nil {
				t.Fatal(err)
			}
			deployment, _ := whole["data"].(map[string]any)["deployment"].(map[string]any)
			c.change(whole, deployment)
			if text, err = json.Marshal(whole); err != nil {
				t.Fatal(err)
			}
			err = kind.Check(w, call, text)
			if err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q", text, err, c.want)
			}
		})
	}
}

func TestConnectionsShareTheRollbacks(t *testing.T) {
	t.Parallel()
	w := data.World{Deployments: 30_000}
	for _, connections := range []int{1, 16, 64, 256} {
		seen := map[string]bool{}
		for _, kind := range requests.All() {
			if kind.Name != "M" {
				continue
			}
			for i := range connections {
				next := kind.Calls(w, requests.Share{Connection: i, Of: connections})
				for call, more := next(); more; call, more = next() {
					if seen[call.Variables] {
						t.Fatalf("of %d connections two roll back to %s", connections, call.Variables)
					}
					seen[call.Variables] = true
				}
			}
		}
		if want := 20_000; len(seen) != want {
			t.Errorf("%d connections have %d rollbacks, want %d", connections, len(seen), want)
		}
	}
}
