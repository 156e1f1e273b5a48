package deployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// everyKind makes a deployment of each kind that a caller or a failure makes.
func everyKind(t *testing.T, w *worldtest.World, p *worldtest.Fixture) {
	t.Helper()
	admin := w.Acme.As(actor.Admin)
	must := func(d *ent.Deployment, err error) *ent.Deployment {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	source := p.Succeeded(t)
	for _, replay := range []worldtest.Replaying{w.Deploy.Propose.Rollback, w.Deploy.Propose.Redeploy} {
		w.Cancel(t, w.Acme, must(worldtest.Unwarned(replay(admin, propose.Replay{SourceID: source.ID}))).ID)
	}
	rollsBack(t, w, p)
	p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), &fault.Data{Code: string(fault.DeploymentFailed), Message: "no"})
	w.Cancel(t, w.Acme, rollbacksOf(w)[0].ID)
	must(worldtest.Unwarned(w.Deploy.Propose.Destroy(admin, propose.Destroy{InstanceID: p.Instance.ID})))
	must(worldtest.Unwarned(w.Deploy.Propose.Promote(admin, propose.Promotion{SourceID: source.ID, InstanceID: p.NewInstance(t, "other").ID})))
}

func TestEveryDeploymentKnowsItsModuleAndItsVersion(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		everyKind(t, w, p)
		all := w.Store.Client.Deployment.Query().AllX(w.Acme.As(actor.Viewer))
		for _, d := range all {
			if d.ModuleDefinitionID == nil || *d.ModuleDefinitionID != p.Definition.ID || d.ModuleVersionID == nil || *d.ModuleVersionID != p.Version.ID {
				t.Errorf("%s by %s has the module %v and the version %v", d.ID, d.TriggerSource, d.ModuleDefinitionID, d.ModuleVersionID)
			}
		}
		if len(all) != 7 {
			t.Errorf("%d deployments", len(all))
		}
	})
}

// What a server of before the columns writes lacks them. Nothing else of it changes, nor its version.
func TestWhatAnOlderServerLeftOutIsFilledIn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		everyKind(t, w, w.Fixture(t, w.Acme, "web"))
		theirs := w.Fixture(t, w.Globex, "web").Succeeded(t)
		read := func() []*ent.Deployment {
			list := w.Store.Client.Deployment.Query().Order(entdeployment.ByID()).AllX(w.Acme.As(actor.Viewer))
			return append(list, w.Store.Client.Deployment.GetX(w.Globex.As(actor.Viewer), theirs.ID))
		}
		want := read()
		for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
			if _, err := w.Raw(t, o).ExecContext(t.Context(), `UPDATE deployments SET module_definition_id = NULL, module_version_id = NULL,
				search_text = NULL, created_by_id = NULL WHERE organization_id = '`+o.ID+`'`); err != nil {
				t.Fatal(err)
			}
		}
		for _, filled := range []int{len(want), 0} {
			if n, err := w.Deploy.Execution.FillIn(t.Context()); n != filled || err != nil {
				t.Errorf("%d are filled in, %v, want %d", n, err, filled)
			}
		}
		ignored := cmp.Options{cmpopts.IgnoreUnexported(ent.Deployment{}, ent.DeploymentEdges{}), cmp.AllowUnexported(ecs.Column{})}
		if diff := cmp.Diff(want, read(), ignored); diff != "" {
			t.Errorf("want (-), got (+):\n%s", diff)
		}
	})
}
