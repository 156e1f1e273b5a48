package inputvalidation_test

import (
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

func TestNumbersThatAReleaseWouldNotKeepAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		_, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
			DefinitionID: p.Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeECS,
			Inputs: parsed(t, "["+input("o", "object", `"default":{"n":9007199254740993}`)+"]"),
		})
		wants(t, "published", broken(wantsCode(t, "published", err, fault.ModuleVersionRuleBroken)), "/inputs/0/default/n number_precision")
		v := version(t, w, p, "2.0.0", "["+input("o", "object", "")+"]")
		const values = `{"o":{"n":[9007199254740993]}}`
		wants(t, "validated", validated(t, w, inputvalidation.Request{VersionID: &v.ID, Values: strictjson.MustParse(values)}), "/o/n/0 number_precision")
		_, err = created(w.Acme.As(actor.Developer), w, p.Instance.ID, v.ID, values)
		wants(t, "created", broken(wantsCode(t, "created", err, fault.DeploymentInputsInvalid)), "/inputs/o/n/0 number_precision")
	})
}

func TestTheScopeCountsForAllInputs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		schema := input("a", "text", `"default":"${{ project.slug }}/${{ environment.slug }}"`)
		module := input("m", "text", `"default":"${{ module.type }}@${{ module.version }}"`)
		v, d := version(t, w, p, "2.0.0", "["+schema+","+module+"]"), definition(t, w, w.Acme, "a", schema)
		given := parsed(t, "["+schema+","+module+"]")
		const literal = `${{ project.slug }}/${{ environment.slug }}`
		const unknown = `${{ module.type }}@${{ module.version }}`
		for what, c := range map[string]struct {
			q                           inputvalidation.Request
			nowhere, there              string
			leftNowhere, leftEverywhere string
		}{
			"version":    {inputvalidation.Request{VersionID: &v.ID}, `{"a":"` + literal + `","m":"web@2.0.0"}`, `{"a":"web/production","m":"web@2.0.0"}`, "/a", ""},
			"definition": {inputvalidation.Request{DefinitionID: &d.ID}, `{"a":"` + literal + `"}`, `{"a":"web/production"}`, "/a", ""},
			"inputs":     {inputvalidation.Request{Inputs: given}, `{"a":"` + literal + `","m":"` + unknown + `"}`, `{"a":"web/production","m":"` + unknown + `"}`, "/a /m", "/m"},
		} {
			c.q.Values = strictjson.MustParse(`{}`)
			resolves(t, w, what+" nowhere", c.q, c.nowhere, c.leftNowhere)
			c.q.EnvironmentID = &p.Environment.ID
			resolves(t, w, what+" in an environment", c.q, c.there, c.leftEverywhere)
			c.q.InstanceID = &p.Instance.ID
			resolves(t, w, what+" of an instance", c.q, c.there, c.leftEverywhere)
			for _, absent := range []string{foreign.Environment.ID, id.New(id.Environment), "nonsense"} {
				q := c.q
				q.EnvironmentID = &absent
				wantsCode(t, what+" in "+absent, resolveError(w, q), fault.EnvironmentNotFound)
				q.InstanceID = nil
				wantsCode(t, what+" in "+absent, resolveError(w, q), fault.EnvironmentNotFound)
			}
			for _, absent := range []string{foreign.Instance.ID, id.New(id.ModuleInstance), "nonsense"} {
				q := c.q
				q.InstanceID = &absent
				wantsCode(t, what+" of "+absent, resolveError(w, q), fault.ModuleInstanceNotFound)
			}
		}
		live(t, w, p, v, `{"a":"x"}`)
		q := inputvalidation.Request{Inputs: parsed(t, "["+input("a", "text", `"immutable":true`)+"]"), InstanceID: &p.Instance.ID, Values: strictjson.MustParse(`{"a":"y"}`)}
		wants(t, "what is live", validated(t, w, q), "/a immutable")
	})
}

func TestAnInstanceIsInItsOwnEnvironment(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "other")
		q := inputvalidation.Request{VersionID: &p.Version.ID, InstanceID: &p.Instance.ID, EnvironmentID: &other.Environment.ID, Values: strictjson.MustParse(`{}`)}
		wants(t, "another", broken(wantsCode(t, "another", resolveError(w, q), fault.RequestInvalid)), "/environmentId other_environment")
	})
}

func resolves(t *testing.T, w *worldtest.World, what string, q inputvalidation.Request, values, unresolved string) {
	t.Helper()
	viewer := w.Acme.As(actor.Viewer)
	r, violations, err := w.Inputs.Resolve(viewer, q)
	if err != nil || len(violations) > 0 {
		t.Errorf("%s: %v, %v", what, violations, err)
		return
	}
	if got := string(r.Values.JSON()); got != values {
		t.Errorf("%s: got %s, want %s", what, got, values)
	}
	v, err := w.Inputs.Validate(viewer, q)
	if err != nil || len(v.Violations) > 0 {
		t.Errorf("%s: %v, %v", what, v, err)
		return
	}
	for _, left := range [][]string{r.Unresolved, v.Unresolved} {
		if got := strings.Join(left, " "); got != unresolved {
			t.Errorf("%s: left %q, want %q", what, got, unresolved)
		}
	}
}

func TestTheAPISaysWhatIsUnresolvedAndWhichDefaultsCountAsAbsent(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		list := "[" + input("a", "text", `"default":"${{ project.slug }}"`) + "," + input("s", "string", `"values":["x"],"default":"x"`) + "]"
		v, older := version(t, w, p, "2.0.0", list), strings.Replace(list, `"default":"x"`, `"default":""`, 1)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE module_versions SET inputs = $1 WHERE id = $2`, older, v.ID); err != nil {
			t.Fatal(err)
		}
		ask := func(more string) worldtest.Response {
			return w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) {
				validateInputs(input: {moduleVersionId: $id, values: {}`+more+`}) { valid unresolved warnings { pointer rule } }
				resolveInputs(input: {moduleVersionId: $id, values: {}`+more+`}) { values unresolved warnings { pointer rule } }
			}`, map[string]any{"id": v.ID})
		}
		const warnings = `"warnings":[{"pointer":"/inputs/1/default","rule":"default_refused"}]`
		nowhere := ask("")
		same(t, nowhere.At(t, "data", "validateInputs"), `{"unresolved":["/a"],"valid":true,`+warnings+`}`)
		same(t, nowhere.At(t, "data", "resolveInputs"), `{"unresolved":["/a"],"values":{"a":"${{ project.slug }}"},`+warnings+`}`)
		there := ask(`, environmentId: "` + p.Environment.ID + `"`)
		same(t, there.At(t, "data", "validateInputs"), `{"unresolved":[],"valid":true,`+warnings+`}`)
		same(t, there.At(t, "data", "resolveInputs"), `{"unresolved":[],"values":{"a":"web"},`+warnings+`}`)
		same(t, stored(t, w, live(t, w, p, v, `{}`)), `{"a":"web"}`)
	})
}

func TestALongReleaseStillBinds(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("name", "text", `"immutable":true`)+","+
			input("l", "object_array", `"item_inputs":[`+input("t", "text", `"default":"`+strings.Repeat("x", 9_000)+`"`)+`]`)+"]")
		values := `{"name":"a","l":[{}` + strings.Repeat(",{}", 40) + `]}`
		live(t, w, p, v, values)
		q := inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(values)}
		wants(t, "the same", validated(t, w, q))
		q.Values = strictjson.MustParse(strings.Replace(values, `"a"`, `"b"`, 1))
		wants(t, "another", validated(t, w, q), "/name immutable")
	})
}

func TestASchemaThatStaysIsNotCheckedAgain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		const schema = `{"id":"s","label":"S","type":"string","default":"","values":["x"]}`
		d := definition(t, w, w.Acme, "s", strings.Replace(schema, `"default":""`, `"default":"x"`, 1))
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE default_value_definitions SET schema = $1 WHERE id = $2`, schema, d.ID); err != nil {
			t.Fatal(err)
		}
		update := func(text string) error {
			name, draft := "Another name", inputprop.NewRawProperty(parsed(t, text))
			_, err := w.Defaults.Update(w.Acme.As(actor.Admin), d.ID, defaults.Patch{Name: &name, Schema: &draft})
			return err
		}
		if err := update(schema); err != nil {
			t.Errorf("the schema as it is: %v", err)
		}
		changed := strings.Replace(schema, `"label":"S"`, `"label":"T"`, 1)
		wants(t, "another", broken(wantsCode(t, "another", update(changed), fault.DefaultValueDefinitionRuleBroken)), "/schema/default not_in_values")
	})
}
