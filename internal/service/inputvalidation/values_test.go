package inputvalidation_test

import (
	"fmt"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/inputvalidation"
	"slipway/internal/test/worldtest"
)

func TestValuesAreCheckedByAVersionADefinitionOrGivenInputs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		schema := input("image", "string", `"required":true,"patterns":[{"pattern":"^web:","message":"of web"}]`)
		d := definition(t, w, w.Acme, "image", schema)
		list := parsed(t, "["+schema+"]")
		for values, want := range map[string][]string{
			`{"image":"web:1"}`: nil,
			`{}`:                {"/image required"},
			`{"image":"db:1"}`:  {"/image pattern"},
			`{"image":1}`:       {"/image type"},
			`{"image":"web:1","a~b/c":1}`: {
				"/a~0b~1c unknown_input"},
		} {
			wants(t, "definition "+values, validated(t, w, inputvalidation.Request{DefinitionID: &d.ID, Values: strictjson.MustParse(values)}), want...)
			wants(t, "inputs "+values, validated(t, w, inputvalidation.Request{Inputs: list, Values: strictjson.MustParse(values)}), want...)
		}
		for values, want := range map[string][]string{
			`{"image":"web:1"}`:                nil,
			`{"replicas":51}`:                  {"/image required", "/replicas max"},
			`{"image":"web:1","replicas":1e9}`: {"/replicas max"},
		} {
			wants(t, "version "+values, validated(t, w, inputvalidation.Request{VersionID: &p.Version.ID, Values: strictjson.MustParse(values)}), want...)
		}
	})
}

func TestTheAPISaysWhatIsWrongWithValues(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, viewer := w.Fixture(t, w.Acme, "web"), w.Acme.Tokens[actor.Viewer]
		ask := func(values any) worldtest.Response {
			return w.GraphQL(t, viewer, `query($input: InputValuesInput!) { validateInputs(input: $input) { valid violations { pointer rule message } } }`,
				map[string]any{"input": map[string]any{"moduleVersionId": p.Version.ID, "values": values}})
		}
		good, bad := ask(map[string]any{"image": "web:1"}), ask(map[string]any{"image": "web:1", "replicas": 51})
		same(t, good.At(t, "data", "validateInputs"), `{"valid":true,"violations":[]}`)
		same(t, bad.At(t, "data", "validateInputs"),
			`{"valid":false,"violations":[{"message":"must be at most 50, found 51","pointer":"/replicas","rule":"max"}]}`)
		for found, values := range map[string]any{"an array": []any{}, `the string "text"`: "text", "the number 1": 1, "true": true} {
			violations, _ := ask(values).Refusal(t)["metadata"].(map[string]any)["violations"].([]any)
			same(t, violations, text(t, []any{map[string]any{
				"pointer": "/input/values", "rule": "type", "message": "must be an object of values by the ids of the inputs, found " + found,
			}}))
		}
	})
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		own, foreign := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Globex, "web")
		schema := input("image", "string", "")
		mine, theirs := definition(t, w, w.Acme, "image", schema), definition(t, w, w.Globex, "image", schema)
		list, malformed := parsed(t, "["+schema+"]"), parsed(t, `[{"id":"a","type":"text"}]`)
		ruleless := parsed(t, "["+input("n", "number", `"min":2,"max":1`)+"]")
		viewer := w.Acme.As(actor.Viewer)
		refused := func(q inputvalidation.Request, code fault.Code) []fault.Violation {
			t.Helper()
			if q.Values == nil {
				q.Values = strictjson.MustParse(`{}`)
			}
			_, err := w.Inputs.Validate(viewer, q)
			wantsCode(t, "resolve", resolveError(w, q), code)
			return wantsCode(t, "validate", err, code)
		}
		for _, q := range []inputvalidation.Request{
			{},
			{VersionID: &own.Version.ID, DefinitionID: &mine.ID},
			{VersionID: &own.Version.ID, Inputs: list},
			{DefinitionID: &mine.ID, Inputs: list},
			{VersionID: &own.Version.ID, DefinitionID: &mine.ID, Inputs: list},
		} {
			wants(t, "not one subject", broken(refused(q, fault.RequestInvalid)), " one_of")
		}
		for values, rule := range map[string]string{`[]`: "type", `null`: "type", `1`: "type", `"{}"`: "type"} {
			violations := refused(inputvalidation.Request{VersionID: &own.Version.ID, Values: strictjson.MustParse(values)}, fault.RequestInvalid)
			wants(t, fmt.Sprintf("values %q", values), broken(violations), "/values "+rule)
		}
		for kind, ids := range map[string][]string{
			"version":     {foreign.Version.ID, id.New(id.ModuleVersion), mine.ID, "nonsense", ""},
			"definition":  {theirs.ID, id.New(id.DefaultValueDefinition), own.Version.ID, "nonsense", ""},
			"instance":    {foreign.Instance.ID, id.New(id.ModuleInstance), mine.ID, "nonsense", ""},
			"environment": {foreign.Environment.ID, id.New(id.Environment), mine.ID, "nonsense", ""},
		} {
			for _, absent := range ids {
				switch kind {
				case "version":
					refused(inputvalidation.Request{VersionID: &absent}, fault.ModuleVersionNotFound)
				case "definition":
					refused(inputvalidation.Request{DefinitionID: &absent}, fault.DefaultValueDefinitionNotFound)
				case "instance":
					refused(inputvalidation.Request{VersionID: &own.Version.ID, InstanceID: &absent}, fault.ModuleInstanceNotFound)
				case "environment":
					refused(inputvalidation.Request{VersionID: &own.Version.ID, EnvironmentID: &absent}, fault.EnvironmentNotFound)
				}
			}
		}
		wants(t, "malformed inputs", broken(refused(inputvalidation.Request{Inputs: malformed}, fault.RequestInvalid)), "/inputs/0/label required")
		wants(t, "inputs that break a rule", broken(refused(inputvalidation.Request{Inputs: ruleless}, fault.InputsRuleBroken)), "/inputs/0/min min_max")
		_, err := w.Inputs.Validate(actor.With(t.Context(), actor.Anonymous()), inputvalidation.Request{Inputs: list, Values: strictjson.MustParse(`{}`)})
		wantsCode(t, "anonymous", err, fault.RequestUnauthenticated)
	})
}

func resolveError(w *worldtest.World, q inputvalidation.Request) error {
	_, _, err := w.Inputs.Resolve(w.Acme.As(actor.Viewer), q)
	return err
}

func TestWhatIsLiveBindsTheValues(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		v := version(t, w, p, "2.0.0", "["+input("name", "string", `"immutable":true`)+","+
			input("disk", "number", `"min_current_value":true`)+","+
			input("size", "string", `"values":["s","m","l"],"min_current_value":true`)+"]")
		at := func(values string) []string {
			return validated(t, w, inputvalidation.Request{VersionID: &v.ID, InstanceID: &p.Instance.ID, Values: strictjson.MustParse(values)})
		}
		const less = `{"name":"b","disk":9,"size":"s"}`
		wants(t, "before anything is live", at(less))
		if _, err := created(w.Acme.As(actor.Developer), w, p.Instance.ID, v.ID, `{"name":"x","disk":99,"size":"l"}`); err != nil {
			t.Fatal(err)
		}
		wants(t, "while one waits", at(less))
		pending, err := w.Store.Client.Deployment.Query().Only(w.Acme.As(actor.Viewer))
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, pending, &fault.Data{Code: string(fault.DeploymentFailed), Message: "It did not start."})
		wants(t, "after a failure", at(less))
		live(t, w, p, v, `{"name":"a","disk":10,"size":"m"}`)
		wants(t, "less than what is live", at(less), "/name immutable", "/disk min_current_value", "/size min_current_value")
		wants(t, "what is live", at(`{"name":"a","disk":10,"size":"m"}`))
		wants(t, "more than what is live", at(`{"name":"a","disk":11,"size":"l"}`))
		wants(t, "another place", validated(t, w, inputvalidation.Request{VersionID: &v.ID, EnvironmentID: &p.Environment.ID, Values: strictjson.MustParse(less)}))
		other := p.NewInstance(t, "other")
		wants(t, "another instance", validated(t, w, inputvalidation.Request{VersionID: &v.ID, InstanceID: &other.ID, Values: strictjson.MustParse(less)}))
	})
}

func TestADefinitionThatIsNotThereHasNoOptions(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		definition(t, w, w.Acme, "zone", input("zone", "string", `"values":["a","b"]`))
		definition(t, w, w.Globex, "theirs", input("zone", "string", `"values":["a","b"]`))
		list := parsed(t, "["+input("from", "string", "")+","+
			input("zone", "string", `"values":{"source":"default_value_definition","params":{"givenId":{"input":"from"}}}`)+"]")
		for from, want := range map[string][]string{"zone": nil, "theirs": {"/zone not_in_values"}, "absent": {"/zone not_in_values"}} {
			values := strictjson.MustParse(fmt.Sprintf(`{"from":%q,"zone":"a"}`, from))
			wants(t, from, validated(t, w, inputvalidation.Request{Inputs: list, Values: values}), want...)
		}
	})
}
