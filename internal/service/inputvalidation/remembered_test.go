package inputvalidation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/moduledefinition"
	"slipway/internal/base/actor"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

// counted are warnings of immutable_changed, by their pointers: how many instances they count, and how many they name.
func counted(t *testing.T, w *worldtest.World, mutation, input string, more map[string]any) map[string][2]int {
	t.Helper()
	document := fmt.Sprintf(`mutation($input: %s!) { %s(input: $input) { warnings { pointer rule message } } }`, input, mutation)
	r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], document, map[string]any{"input": more})
	list, ok := r.At(t, "data", mutation, "warnings").([]any)
	if !ok {
		t.Fatalf("%s: %s", mutation, r.Body)
	}
	found := map[string][2]int{}
	for _, each := range list {
		warning := each.(map[string]any)
		if message := warning["message"].(string); warning["rule"] == "immutable_changed" {
			var instances int
			before, _, _ := strings.Cut(message, " instance")
			if _, err := fmt.Sscan(before[strings.LastIndex(before, " ")+1:], &instances); err != nil {
				t.Errorf("%s: %v", message, err)
			}
			found[warning["pointer"].(string)] = [2]int{instances, strings.Count(message, "(inst_")}
		}
	}
	return found
}

func wantsCounted(t *testing.T, what string, got, want map[string][2]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func published(number, inputs string, p *worldtest.Fixture) map[string]any {
	var list []map[string]any
	for _, each := range strictjson.MustParse(inputs).Items {
		list = append(list, map[string]any{"json": each.JSON()})
	}
	return map[string]any{"moduleDefinitionId": p.Definition.ID, "version": number, "deploymentType": "aws:ecs", "inputs": list}
}

func TestAVersionThatChangesAnImmutableInputLocksNobodyOut(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("a", "text", `"immutable":true`)+","+input("n", "number", `"min_current_value":true`)+"]")
		live(t, w, p, v, `{"a":"x","n":9}`)
		now := version(t, w, p, "3.0.0", "["+input("a", "number", `"immutable":true`)+","+input("n", "number", `"min_current_value":true,"max":5`)+"]")

		got, _ := refused(t, w, p, now, `{}`)
		wants(t, "what nobody sent", got)
		shown, _, err := w.Inputs.Resolve(w.Acme.As(actor.Viewer), inputvalidation.Request{VersionID: &now.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		same(t, shown.Values, `{}`)
		shown, _, err = w.Inputs.Resolve(w.Acme.As(actor.Viewer), inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		same(t, shown.Values, `{"a":"x"}`)

		// The next success is remembered, and what it hides stays so.
		live(t, w, p, now, `{"a":3,"n":4}`)
		got, _ = refused(t, w, p, now, `{"a":4,"n":3}`)
		wants(t, "after the next success", got, "/a immutable", "/n min_current_value")
		got, _ = refused(t, w, p, v, `{"a":"y","n":9}`)
		wants(t, "back to the version before", got)
	})
}

func TestTheLeastValueIsRememberedWhileItIsHidden(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("on", "boolean", `"default":true`)+","+input("n", "number", `"min_current_value":true,"show_when":{"on":true}`)+"]")
		live(t, w, p, v, `{"n":5}`)
		live(t, w, p, v, `{"on":false}`)
		got, _ := refused(t, w, p, v, `{"n":4}`)
		wants(t, "hidden once", got, "/n min_current_value")
		got, _ = refused(t, w, p, v, `{"n":5}`)
		wants(t, "as it was", got)
	})
}

func TestPublishingCountsWhomItSetsFree(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, theirs := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		const items = `"item_inputs":[`
		v := version(t, w, p, "2.0.0", "["+input("a", "text", `"immutable":true`)+","+input("m", "object_map", items+input("b", "text", `"immutable":true`)+"]")+"]")
		for i := range 23 {
			instance := p.NewInstance(t, fmt.Sprint("i", i))
			values := fmt.Sprintf(`{"a":"x%d","m":{"k":{"b":"7"},"l":{"b":"x"}}}`, i%2)
			d, err := created(w.Acme.As(actor.Developer), w, instance.ID, v.ID, values)
			if err != nil {
				t.Fatal(err)
			}
			p.Finish(t, d, nil)
		}
		theirs.Succeeded(t)
		for i, c := range []struct {
			inputs string
			want   map[string][2]int
		}{
			{input("a", "text", `"immutable":true`), map[string][2]int{}},
			{input("a", "number", ""), map[string][2]int{}},
			{input("a", "number", `"immutable":true`), map[string][2]int{"/input/inputs/0": {23, 20}}},
			{input("z", "text", "") + "," + input("a", "string", `"immutable":true,"values":["x1"]`), map[string][2]int{"/input/inputs/1": {12, 12}}},
			{input("m", "object_map", items+input("z", "text", "")+","+input("b", "string", `"immutable":true,"values":["7"]`)+"]"), map[string][2]int{"/input/inputs/0/item_inputs/1": {23, 20}}},
		} {
			got := counted(t, w, "publishModuleVersion", "PublishModuleVersionInput", published(fmt.Sprintf("3.%d.0", i), "["+c.inputs+"]", p))
			wantsCounted(t, c.inputs, got, c.want)
		}
	})
}

// shadowing is a world in which an instance has chosen one of a global module, and may not change that.
func shadowing(t *testing.T, w *worldtest.World) (p *worldtest.Fixture, v *ent.ModuleVersion, chosen *ent.ModuleInstance) {
	t.Helper()
	p = w.Fixture(t, w.Acme, "web")
	root := actor.With(context.Background(), &actor.Actor{ID: "tok_root", Name: "root", Role: actor.Superadmin, Globally: true, Channel: actor.CLI})
	global, warnings, err := w.Catalog.CreateDefinition(root, catalog.NewDefinition{Name: "Global", Type: "base", Status: moduledefinition.StatusACTIVE})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	chosen, err = w.Catalog.CreateInstance(w.Acme.As(actor.Admin), catalog.NewInstance{EnvironmentID: p.Environment.ID, DefinitionID: global.ID, Name: "global"})
	if err != nil {
		t.Fatal(err)
	}
	v = version(t, w, p, "2.0.0", "["+input("of", "$ref:base", `"immutable":true`)+"]")
	live(t, w, p, v, `{"of":"`+chosen.ID+`"}`)
	return p, v, chosen
}

func TestAReferenceThatAnOwnModuleShadowsLocksNobodyOut(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, v, chosen := shadowing(t, w)
		got, _ := refused(t, w, p, v, `{"of":null}`)
		wants(t, "before", got, "/of immutable")
		if got := found(system(w.Acme), t, w); len(got) > 0 {
			t.Errorf("what is live is refused: %q", got)
		}
		create := func(moduleType string) map[string][2]int {
			return counted(t, w, "createModuleDefinition", "CreateModuleDefinitionInput", map[string]any{"name": "Own", "type": moduleType})
		}
		wantsCounted(t, "another type", create("other"), map[string][2]int{})
		wantsCounted(t, "the type", create("base"), map[string][2]int{"/input/type": {1, 1}})

		got, _ = refused(t, w, p, v, `{}`)
		wants(t, "what nobody sent", got)
		got, _ = refused(t, w, p, v, `{"of":"`+chosen.ID+`"}`)
		wants(t, "the shadowed one", got, "/of reference")
		wants(t, "checked", found(system(w.Acme), t, w), "live release "+p.Instance.ID+" web /inputs/of reference")
		version(t, w, p, "2.1.0", "["+input("of", "$ref:base", `"immutable":true`)+"]")
		wantsCounted(t, "a version after that", counted(t, w, "publishModuleVersion", "PublishModuleVersionInput",
			published("3.0.0", "["+input("of", "$ref:base", `"immutable":true`)+"]", p)), map[string][2]int{"/input/inputs/0": {1, 1}})
	})
}

func TestWhatIsCheckedMayChooseWhatItHasChosen(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		base, p := w.Fixture(t, w.Acme, "base"), w.Fixture(t, w.Acme, "web")
		base.Succeeded(t)
		v := version(t, w, p, "2.0.0", "["+input("of", "$ref:base", `"mapped_inputs":[`+input("image", "string", `"default":"${{ ref.input.image }}"`)+`]`)+"]")
		live(t, w, p, v, `{"of":"`+base.Instance.ID+`"}`)
		// What the chosen instance has may have changed since.
		base.Finish(t, base.Deploy(t, base.Instance.ID, `{"image":"web:9"}`), nil)
		if got := found(system(w.Acme), t, w); len(got) > 0 {
			t.Errorf("what is live is refused: %q", got)
		}
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE module_instances SET live_deployment_id = NULL WHERE id = $1`, base.Instance.ID); err != nil {
			t.Fatal(err)
		}
		wants(t, "nothing live", found(system(w.Acme), t, w), "live release "+p.Instance.ID+" web /inputs/of reference_not_live")
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE module_definitions SET type = 'elsewhere' WHERE id = $1`, base.Definition.ID); err != nil {
			t.Fatal(err)
		}
		wants(t, "of another type", found(system(w.Acme), t, w), "live release "+p.Instance.ID+" web /inputs/of reference")
	})
}

// However many instances there are, what they remember is read in one statement, of which each is a small part.
func TestWarningOfManyInstancesIsBounded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("a", "text", `"immutable":true`)+"]")
		live(t, w, p, v, `{"a":"x"}`)
		publish := func(number string, limit int) (warnings []string, statements, cost int) {
			m := meter.New(meter.Limits{Cost: limit}, 0, nil)
			statements = len(w.Recorded(func() {
				_, found, err := w.Catalog.PublishVersion(meter.With(w.Acme.As(actor.Admin), m), module.NewVersion{
					DefinitionID: p.Definition.ID, Version: number, Kind: module.DeploymentTypeECS,
					Inputs: parsed(t, "["+input("a", "number", `"immutable":true`)+"]"),
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, warning := range found {
					warnings = append(warnings, warning.Pointer+" "+warning.Rule+" "+warning.Message)
				}
			}))
			return warnings, statements, m.Cost()
		}
		_, ofOne, costOfOne := publish("3.0.0", 0)
		multiply(t, w, p.Instance.ID, 10_000)
		warnings, ofMany, costOfMany := publish("3.1.0", 0)
		if ofMany != ofOne || costOfMany < costOfOne+500 {
			t.Errorf("%d statements and a cost of %d for one instance, %d and %d for many", ofOne, costOfOne, ofMany, costOfMany)
		}
		if len(warnings) != 2 || !strings.Contains(warnings[0], "refuses what 1000 instances have as its value, which binds nothing any more: ") ||
			!strings.HasSuffix(warnings[0], ", and 980 more") || strings.Count(warnings[0], "(inst_") != 20 ||
			warnings[1] != "/inputs not_all_judged was judged for 1000 live instances by what they remember; there are more" {
			t.Errorf("got %q", warnings)
		}
		// A request that may cost little publishes all the same, and says how far it got.
		warnings, _, cost := publish("3.2.0", 300)
		if cost > 300 || len(warnings) != 2 || strings.Contains(warnings[0], " 1000 instances") {
			t.Errorf("for a cost of %d: %q", cost, warnings)
		}
	})
}

// multiply makes instances like one of an organization's, with what it remembers.
func multiply(t *testing.T, w *worldtest.World, instanceID string, count int) {
	t.Helper()
	const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `
	id := `'inst_' || substr('00000000000000000000000000' || n.i, length('' || n.i) + 1)`
	for _, statement := range []string{
		`INSERT INTO module_instances (id, created_at, updated_at, organization_id, project_id, environment_id, module_definition_id, name, live_deployment_id)
		 ` + numbers + `SELECT ` + id + `, m.created_at, m.updated_at, m.organization_id, m.project_id, m.environment_id, m.module_definition_id,
			'many-' || n.i, m.live_deployment_id FROM n, module_instances m WHERE m.id = $1`,
		`INSERT INTO input_baselines (organization_id, module_instance_id, deployment_id, content, updated_at)
		 ` + numbers + `SELECT b.organization_id, ` + id + `, b.deployment_id, b.content, b.updated_at FROM n, input_baselines b WHERE b.module_instance_id = $1`,
	} {
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), fmt.Sprintf(statement, count), instanceID); err != nil {
			t.Fatal(err)
		}
	}
}
