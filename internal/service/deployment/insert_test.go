package deployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/ecs"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestWhatIsMadeIsWhatIsStored(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		p := w.Fixture(t, w.Acme, "web")
		compare := func(what string, made *ent.Deployment) {
			t.Helper()
			stored := w.Store.Client.Deployment.GetX(ctx, made.ID)
			if diff := cmp.Diff(stored, made, cmpopts.IgnoreUnexported(ent.Deployment{}, ent.DeploymentEdges{}), cmp.AllowUnexported(ecs.Column{})); diff != "" {
				t.Errorf("%s (-stored +made):\n%s", what, diff)
			}
		}
		made, _, err := w.Deploy.Propose.Create(ctx, propose.New{
			InstanceID: p.Instance.ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"shop"}`), Artifact: strictjson.MustParse(`{"revision":7}`),
			Data:        strictjson.MustParse(`{"serviceArn":"arn:aws:ecs:eu-west-1:111122223333:service/shop/cart"}`),
			Description: new("first"), ResourceARN: new("arn:x"), ResourceName: new("x"),
		})
		if err != nil {
			t.Fatal(err)
		}
		compare("a deployment", made)
		w.Cancel(t, w.Acme, made.ID)
		again, _, err := w.Deploy.Propose.Redeploy(ctx, propose.Replay{SourceID: made.ID})
		if err != nil {
			t.Fatal(err)
		}
		compare("a redeploy", again)
		w.Cancel(t, w.Acme, again.ID)
		target := p.Succeeded(t)
		back, _, err := w.Deploy.Propose.Rollback(ctx, propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		compare("a rollback", back)
	})
}
