package valuesource_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/page"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestDefinitionsLeadOnToOneAnotherButNotInACircle(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		define(t, w, w.Acme, "zone", `["a","b"]`)
		define(t, w, w.Acme, "next", from("zone"))
		define(t, w, w.Acme, "last", from("next"))
		define(t, w, w.Acme, "place", `{"source":"environments","params":{"projectId":"`+p.Project.ID+`"}}`)
		viewer := w.Acme.Tokens[actor.Viewer]
		wants(t, "last", listed(t, w, viewer, "default_value_definition", params{"givenId": "last"}), "a", "b")
		wants(t, "place", listed(t, w, viewer, "default_value_definition", params{"givenId": "place"}), p.Environment.ID)
		define(t, w, w.Acme, "loop", `["a"]`)
		define(t, w, w.Acme, "back", from("loop"))
		d, err := w.Defaults.Definitions(w.Acme.As(actor.Admin), defaults.Filter{GivenID: new("loop")}, page.Args{})
		if err != nil || len(d.Nodes()) != 1 {
			t.Fatal(d, err)
		}
		schema := inputprop.NewRawProperty(parsed(t, `{"id":"v","label":"V","type":"string","values":`+from("back")+`}`))
		if _, err := w.Defaults.Update(w.Acme.As(actor.Admin), d.Nodes()[0].ID, defaults.Patch{Schema: &schema}); err != nil {
			t.Fatal(err)
		}
		for _, givenID := range []string{"loop", "back"} {
			r := values(t, w, viewer, "default_value_definition", params{"givenId": givenID}, 0, "")
			if r.Code(t) != string(fault.RequestInvalid) || !strings.Contains(string(r.Body), "from itself") {
				t.Errorf("%s: %s", givenID, r.Body)
			}
		}
	})
}

func TestADeploymentTakesOnlyWhatItsSourceLists(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other"), w.Fixture(t, w.Globex, "web")
		define(t, w, w.Acme, "zone", `["a","b"]`)
		version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
			DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeECS, Inputs: parsed(t, `[
				{"id":"zone","label":"Zone","type":"string","values":`+from("zone")+`},
				{"id":"project","label":"Project","type":"string","values":{"source":"projects"}},
				{"id":"environment","label":"Environment","type":"string","values":{"source":"environments","params":{"projectId":{"input":"project"}}}}]`),
		})
		if err != nil {
			t.Fatal(err)
		}
		create := func(zone, project, environment string) error {
			_, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
				InstanceID: p.Instance.ID, VersionID: version.ID, Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data),
				Inputs: strictjson.MustParse(fmt.Sprintf(`{"zone":%q,"project":%q,"environment":%q}`, zone, project, environment)),
			})
			return err
		}
		for want, err := range map[string]error{
			"/inputs/zone":        create("c", p.Project.ID, p.Environment.ID),
			"/inputs/project":     create("a", foreign.Project.ID, p.Environment.ID),
			"/inputs/environment": create("a", p.Project.ID, other.Environment.ID),
		} {
			if !fault.Is(err, fault.DeploymentInputsInvalid) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
		if err := create("a", p.Project.ID, p.Environment.ID); err != nil {
			t.Error(err)
		}
	})
}
