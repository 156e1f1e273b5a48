package paritytest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

const (
	cancelRunning = `mutation($id: ID!, $force: Boolean) { cancelDeployment(input: {id: $id, force: $force}) {
		deployment { status cancelRequestedAt cancelRequestedBy { name } forced fence completedAt } } }`
	renewCanceled = `mutation($id: ID!, $lease: ID!) { renewLease(input: {id: $id, leaseId: $lease}) {
		deployment { cancelRequestedAt moduleInstance { fence } } lease { fence cancelSeconds } } }`
	endCanceled = `mutation($id: ID!, $lease: ID!) { completeDeployment(input: {id: $id, leaseId: $lease, canceled: true, error: {message: "Stopped."}}) {
		deployment { status error { code message details { title items } } } } }`
)

func TestACancelRequestIsToldToWhoIsConcerned(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := p.Succeeded(t)
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		lease := p.Claim(t, d)
		developer, admin, runner := w.Acme.Tokens[actor.Developer], w.Acme.Tokens[actor.Admin], w.Acme.Tokens[actor.Runner]
		before := read.rest(t, w, developer, d.ID, "").At(t, "data").(map[string]any)

		got, _ := w.GraphQL(t, developer, cancelRunning, map[string]any{"id": d.ID}).At(t, "data", "cancelDeployment", "deployment").(map[string]any)
		at := got["cancelRequestedAt"]
		want := map[string]any{
			"status": "RUNNING", "cancelRequestedAt": at, "cancelRequestedBy": map[string]any{"name": "developer"}, "forced": false, "fence": "2", "completedAt": nil,
		}
		if diff := cmp.Diff(want, got); diff != "" || at == nil {
			t.Errorf("want (-), got (+): %s", diff)
		}
		// The REST record has the documented fields only; the refusal of what it blocks tells of the request.
		after := read.rest(t, w, developer, d.ID, "").At(t, "data").(map[string]any)
		delete(before, "updatedAt")
		delete(after, "updatedAt")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the REST record changed: %s", diff)
		}
		blocked := w.REST(t, http.MethodPost, "/deployments/"+source.ID+"/rollback", developer, "", nil)
		by, _ := blocked.At(t, "metadata", "blockedBy").(map[string]any)
		if blocked.Status != http.StatusConflict || by["deploymentId"] != d.ID || by["cancelRequestedAt"] != at || by["cancelRequestedBy"] != "developer" {
			t.Errorf("%d: blocked by %v", blocked.Status, by)
		}

		renewed, _ := w.GraphQL(t, runner, renewCanceled, map[string]any{"id": d.ID, "lease": lease}).At(t, "data", "renewLease").(map[string]any)
		described, _ := renewed["lease"].(map[string]any)
		seconds, _ := strconv.Atoi(fmt.Sprint(described["cancelSeconds"]))
		wantRenewed := map[string]any{
			"deployment": map[string]any{"cancelRequestedAt": at, "moduleInstance": map[string]any{"fence": "2"}},
			"lease":      map[string]any{"fence": "2", "cancelSeconds": described["cancelSeconds"]},
		}
		if diff := cmp.Diff(wantRenewed, renewed); diff != "" || seconds < 800 || seconds > 900 {
			t.Errorf("%d s; want (-), got (+): %s", seconds, diff)
		}
		for token, code := range map[string]fault.Code{developer: fault.DeploymentForbidden, admin: fault.DeploymentWrongState} {
			if got := w.GraphQL(t, token, cancelRunning, map[string]any{"id": d.ID, "force": true}).Code(t); got != string(code) {
				t.Errorf("force: %s, want %s", got, code)
			}
		}
		ended := w.GraphQL(t, runner, endCanceled, map[string]any{"id": d.ID, "lease": lease}).At(t, "data", "completeDeployment", "deployment")
		wantEnd := map[string]any{"status": "CANCELED", "error": map[string]any{
			"code": "slipway:Deployment:CANCELED", "message": "Canceled by developer.",
			"details": []any{map[string]any{"title": "Last words of the program", "items": []any{"Stopped."}}},
		}}
		if diff := cmp.Diff(any(wantEnd), ended); diff != "" {
			t.Errorf("want (-), got (+): %s", diff)
		}
	})
}
