package demo_test

import (
	"strings"
	"testing"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/data/record"
	"slipway/internal/demo"
	"slipway/internal/test/worldtest"
)

func TestThereIsAlwaysSomethingToFollow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *worldtest.World, r *demo.Result) {
		followed := 0
		for _, e := range r.Examples {
			if !strings.Contains(e.Query, "subscription") || strings.Contains(e.Query, "deploymentsChanged") {
				continue
			}
			followed++
			if !strings.Contains(e.Variables, r.FollowedDeploymentID) {
				t.Errorf("%s is about %s, want %s", e.Name, e.Variables, r.FollowedDeploymentID)
			}
		}
		if followed < 2 {
			t.Errorf("%d examples follow a deployment", followed)
		}
		left := active(t, w, r)
		run(t, w, r, quick)
		for _, d := range left {
			if d.ID != r.FollowedDeploymentID {
				await(t, w, r, d.ID, ended)
			}
		}
		// All else has ended. It goes on, and tells of it.
		first := await(t, w, r, r.FollowedDeploymentID, running)
		later := await(t, w, r, r.FollowedDeploymentID, func(d *record.Deployment) bool { return d.Version >= first.Version+2 })
		if later.Status != entdeployment.StatusRUNNING {
			t.Errorf("it is %s", later.Status)
		}
		by := actor.With(t.Context(), &actor.Actor{Name: "maya", Role: actor.Developer, OrganizationID: r.OrganizationID})
		if _, err := w.Deploy.Execution.Cancel(by, r.FollowedDeploymentID, nil); err != nil {
			t.Fatal(err)
		}
		if last := await(t, w, r, r.FollowedDeploymentID, ended); last.Status != entdeployment.StatusCANCELED {
			t.Errorf("canceled it is %s", last.Status)
		}
	})
}
