package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// What somebody starts outside is drift to all who look: the instance, its list, the offer of a rollback, and those who deploy.
func TestDriftIsToldToWhoeverDeploys(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, token := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Developer]
		live := p.Succeeded(t)
		other := p.NewInstance(t, "other")
		const service = "arn:aws:ecs:eu-west-1:123456789012:service/main/web"
		for i, name := range []string{"IN_PROGRESS", "COMPLETED"} {
			event := fmt.Sprintf(`{"id":"%d","detail-type":"ECS Deployment State Change","time":%q,"resources":[%q],
				"detail":{"eventName":"SERVICE_DEPLOYMENT_%s","deploymentId":"ecs-svc/9"}}`,
				i, time.Now().UTC().Add(30*time.Minute+time.Duration(i)*time.Second).Format(time.RFC3339), service, name)
			if err := w.Deploy.CloudEvents.ReceiveECSEvent(w.Acme.As(actor.Runner), strictjson.MustParse(event)); err != nil {
				t.Fatal(err)
			}
		}
		r := w.GraphQL(t, token, `query($id: ID!) { moduleInstance(id: $id) { drift { kind since message deployment { id triggerSource } }
			externalDeployment { id completedAt } liveDeployment { id rollbackEligibility { allowed warnings { message } } } } }`, map[string]any{"id": p.Instance.ID})
		outside := r.Text(t, "data", "moduleInstance", "externalDeployment", "id")
		message := r.Text(t, "data", "moduleInstance", "drift", "message")
		for _, c := range [][2]any{
			{r.At(t, "data", "moduleInstance", "drift", "kind"), "CHANGED_OUTSIDE"},
			{r.At(t, "data", "moduleInstance", "drift", "since"), r.At(t, "data", "moduleInstance", "externalDeployment", "completedAt")},
			{r.At(t, "data", "moduleInstance", "drift", "deployment", "id"), outside},
			{r.At(t, "data", "moduleInstance", "drift", "deployment", "triggerSource"), "event"},
			{r.At(t, "data", "moduleInstance", "liveDeployment", "rollbackEligibility", "allowed"), true},
			{r.At(t, "data", "moduleInstance", "liveDeployment", "rollbackEligibility", "warnings", 0, "message"), "The instance has drifted: " + message},
			{strings.Contains(message, outside), true},
		} {
			if c[0] != c[1] {
				t.Errorf("%v, want %v: %s", c[0], c[1], r.Body)
			}
		}
		list := w.GraphQL(t, token, `{ changed: moduleInstances(filter: {drift: CHANGED_OUTSIDE}) { nodes { id } }
			back: moduleInstances(filter: {drift: ROLLED_BACK}) { nodes { id } } }`, nil)
		if got, want := fmt.Sprint(list.At(t, "data")), fmt.Sprintf("map[back:map[nodes:[]] changed:map[nodes:[map[id:%s]]]]", p.Instance.ID); got != want {
			t.Errorf("the lists are %s, want %s", got, want)
		}
		told := func(pointer string) string {
			return fmt.Sprintf("[map[message:The instance has drifted: %s pointer:%s rule:drift]]", message, pointer)
		}
		creation := func(instanceID string) map[string]any {
			return map[string]any{"moduleInstanceId": instanceID, "moduleVersionId": p.Version.ID,
				"artifact": map[string]any{"arn": "arn:1"}, "inputs": map[string]any{"image": "web:2"}}
		}
		keyed := map[string]any{"id": live.ID, "idempotencyKey": "k"}
		for _, c := range []struct {
			operation string
			input     map[string]any
			want      string
		}{
			{"Rollback", map[string]any{"id": live.ID}, told("/input/id")},
			{"Redeploy", keyed, told("/input/id")},
			{"Redeploy", keyed, "[]"}, // it was made before, and has been canceled since
			{"Create", creation(p.Instance.ID), told("/input/moduleInstanceId")},
			{"Create", creation(other.ID), "[]"},
		} {
			r := w.GraphQL(t, token, fmt.Sprintf(`mutation($input: %sDeploymentInput!) { made: %sDeployment(input: $input) {
				deployment { id status } warnings { pointer rule message } } }`, c.operation, strings.ToLower(c.operation)), map[string]any{"input": c.input})
			if got := fmt.Sprint(r.At(t, "data", "made", "warnings")); got != c.want {
				t.Errorf("%s: %s, want %s", c.operation, got, c.want)
			}
			if r.At(t, "data", "made", "deployment", "status") == "PENDING" {
				w.Cancel(t, w.Acme, r.Text(t, "data", "made", "deployment", "id"))
			}
		}
		d, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: live.ID, Request: admission.Request{ExpectedLiveID: &live.ID}})
		if err != nil {
			t.Fatalf("live is still %s: %v", live.ID, err)
		}
		p.Finish(t, d, nil)
	})
}
