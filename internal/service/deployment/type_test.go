package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestErrorsNameTheDeploymentType(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin, p := w.Acme.As(actor.Admin), w.Fixture(t, w.Acme, "web")
		terraform, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{
			DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform,
			Inputs: strictjson.MustParse(`[]`),
		})
		if err != nil {
			t.Fatal(err)
		}

		deploy := func(versionID, inputs string, artifact *strictjson.Node) error {
			_, _, err := w.Deploy.Propose.Create(admin, propose.New{
				InstanceID: p.Instance.ID, VersionID: versionID, Inputs: strictjson.MustParse(inputs), Artifact: artifact,
			})
			return err
		}
		_, _, tooMany := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: []string{"a", "b", "c"}})
		for want, err := range map[string]error{
			"/artifact: is required for modules with the deploymentType aws:ecs": deploy(p.Version.ID, `{"image":"web:1"}`, nil),
			"/artifact: is for modules with the deploymentType aws:ecs only, found terraform": deploy(
				terraform.ID, `{}`, strictjson.MustParse(worldtest.Artifact),
			),
			"/deploymentTypes: must have at most 2 items, one for each deploymentType, found 3": tooMany,
		} {
			if shown := fmt.Sprint(fault.Public(err, fault.View{}).Details); !strings.Contains(shown, want) {
				t.Errorf("want %q, found %s", want, shown)
			}
		}
	})
}
