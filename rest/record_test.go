package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// recordFields are all that a deployment may have.
var recordFields = strings.Fields(`id createdAt updatedAt organizationId projectId environmentId moduleInstanceId
	deploymentType triggerSource description startedAt completedAt error externalDeploymentId pipelineRunId
	stepExecutionId resourceArn resourceName redeployOfDeploymentId rollbackToDeploymentId data`)

func TestADeploymentHasTheDocumentedFieldsAndNoOther(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		s := newStage(t, w)
		replayed := ask(t, w, s.replay("rollback", s.succeeded.ID, actor.Developer)).Text(t, "data", "id")
		seen := map[string]bool{}
		for _, id := range []string{s.succeeded.ID, s.failed.ID, s.pending.ID, s.lost.ID, replayed} {
			got := ask(t, w, exchange{method: http.MethodGet, path: "/deployments/" + id, token: s.Acme.Tokens[actor.Viewer]})
			record, _ := got.At(t, "data").(map[string]any)
			for field, value := range record {
				seen[field] = true
				if !slices.Contains(recordFields, field) || value == nil {
					t.Errorf("the deployment has %s: %v", field, value)
				}
			}
		}
		for _, field := range []string{"startedAt", "completedAt", "error", "description", "data", "rollbackToDeploymentId"} {
			if !seen[field] {
				t.Errorf("no deployment has %s, some have %q", field, slices.Sorted(maps.Keys(seen)))
			}
		}
	})
}

func TestWhatARunnerReportsIsServedWithoutTheCloudsOwnKeys(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1.4.2"}`)
		runner := w.Acme.As(actor.Runner)
		lease := p.Claim(t, d)
		external := "ecs-svc/1"
		if _, _, err := w.Deploy.Execution.Report(runner, d.ID, lease, execution.Report{
			ExternalDeploymentID: &external,
			Data: strictjson.MustParse(`{"serviceDeploymentState":{"status":"IN_PROGRESS","cloudOnly":1,"targetServiceRevision":
				{"requestedProductionTrafficWeight":33.4}},"events":[{"message":"up","currentStep":1,"startedAt":"2026-03-01T09:30:00.123456789Z"}]}`),
		}); err != nil {
			t.Fatal(err)
		}
		got := ask(t, w, exchange{method: http.MethodGet, path: "/deployments/" + d.ID, token: w.Acme.Tokens[actor.Viewer]})
		if strings.Contains(string(got.Body), "cloudOnly") || !strings.Contains(string(got.Body), `"requestedProductionTrafficWeight":33}`) ||
			got.Text(t, "data", "externalDeploymentId") != external ||
			got.Text(t, "data", "data", "events", 0, "startedAt") != "2026-03-01T09:30:00.123456789Z" {
			t.Errorf("the report is served as %s", got.Body)
		}
	})
}
