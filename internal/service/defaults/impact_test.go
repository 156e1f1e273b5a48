package defaults_test

import (
	"slices"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

const (
	tiers     = `{"id":"tier","type":"string","label":"Tier","values":["small","large"]}`
	onlyLarge = `{"id":"tier","type":"string","label":"Tier","values":["large"]}`
	tierInput = `[{"id":"tier","type":"string","label":"Tier","values":{"source":"default_value_definition","params":{"givenId":"tiers"}}}]`
)

// tiered makes an organization the definition "tiers", a module that takes options from it, and two live
// instances named after the tier that each has.
func tiered(t *testing.T, w *worldtest.World, o *worldtest.Org) *ent.DefaultValueDefinition {
	t.Helper()
	admin := o.As(actor.Admin)
	d, _, err := w.Defaults.Create(admin, defaults.New{GivenID: "tiers", Name: "Tiers", Schema: inputprop.NewRawProperty(parsed(t, tiers))})
	if err != nil {
		t.Fatal(err)
	}
	p := w.Fixture(t, o, "tiered")
	if p.Version, _, err = w.Catalog.PublishVersion(admin, module.NewVersion{
		DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeTerraform, Inputs: parsed(t, tierInput),
	}); err != nil {
		t.Fatal(err)
	}
	for _, tier := range []string{"small", "large"} {
		made, _, err := w.Deploy.Propose.Create(o.As(actor.Developer), propose.New{
			InstanceID: p.NewInstance(t, tier).ID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"tier":"` + tier + `"}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, made, nil)
	}
	return d
}

func TestChangeOfASchemaTellsWhomItConcerns(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := tiered(t, w, w.Acme)
		tiered(t, w, w.Globex)
		draft := inputprop.NewRawProperty(parsed(t, onlyLarge))
		admin := w.Acme.As(actor.Admin)

		rows := w.Rows(t)
		foreseen, err := w.Defaults.Update(admin, d.ID, defaults.Patch{Schema: &draft, DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		if foreseen.Definition.Version != 1 || string(foreseen.Definition.Schema.JSON()) != string(d.Schema.JSON()) {
			t.Errorf("a dry run changed the definition: %v", foreseen.Definition)
		}
		for table, n := range w.Rows(t) {
			if rows[table] != n {
				t.Errorf("a dry run wrote to %s", table)
			}
		}
		done, err := w.Defaults.Update(admin, d.ID, defaults.Patch{Schema: &draft})
		if err != nil {
			t.Fatal(err)
		}
		if done.Definition.Version != 2 {
			t.Errorf("version %d after the change, want 2", done.Definition.Version)
		}
		for _, o := range []*defaults.Outcome{foreseen, done} {
			if len(o.Changes) != 1 || o.Changes[0].Field != "schema" {
				t.Errorf("changes %v, want the schema alone", o.Changes)
			}
			if len(o.Impact.Versions) != 1 || o.Impact.Versions[0].Version != "2.0.0" {
				t.Errorf("versions %v, want Acme's 2.0.0", o.Impact.Versions)
			}
			if len(o.Impact.Instances) != 1 || o.Impact.Instances[0].Name != "small" {
				t.Errorf("instances %v, want Acme's small", o.Impact.Instances)
			}
			var told []string
			for _, warning := range o.Warnings {
				told = append(told, warning.Rule)
			}
			if !slices.Equal(told, []string{"named_by_version", "instance_values"}) {
				t.Errorf("warnings %v", o.Warnings)
			}
		}
	})
}

func TestChangeThatLeavesTheSchemaConcernsNobody(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := tiered(t, w, w.Acme)
		name, same := "Other", inputprop.NewRawProperty(parsed(t, tiers))
		o, err := w.Defaults.Update(w.Acme.As(actor.Admin), d.ID, defaults.Patch{Name: &name, Schema: &same})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Impact.Versions)+len(o.Impact.Instances)+len(o.Warnings) != 0 || len(o.Changes) != 1 || o.Changes[0].Field != "name" {
			t.Errorf("outcome %+v, want a changed name and nothing else", o)
		}
	})
}
