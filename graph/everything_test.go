package graph_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/module"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/test/worldtest"
)

func TestOneQuerySelectsEveryFieldOfEveryVariantWithoutAnAlias(t *testing.T) {
	t.Parallel()
	f := fragments{}
	every := f.of("InputProperty", 3)
	versions := `query($id: ID!) { moduleVersion(id: $id) { inputs { ...` + every + ` } } }` + "\n" + f.text()
	definitions := `query($id: ID!) { defaultValueDefinition(id: $id) { schema { ...` + every + ` } } }` + "\n" + f.text()
	raw, err := os.ReadFile("../internal/pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte("12345678901234567890"), []byte("1234567890"), 1) // which a version may have as a default
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.As(actor.Admin)
		inputs, err := strictjson.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		version, _, err := w.Catalog.PublishVersion(admin, module.NewVersion{
			DefinitionID: w.Fixture(t, w.Acme, "web").Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeECS, Inputs: inputs,
		})
		if err != nil {
			t.Fatal(err)
		}
		definition, _, err := w.Defaults.Create(admin, defaults.New{GivenID: "map", Name: "Map", Schema: inputprop.NewRawProperty(inputs.Items[3])})
		if err != nil {
			t.Fatal(err)
		}
		answer := func(query, id string) worldtest.Response {
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, map[string]any{"id": id})
			if r.At(t, "errors") != nil {
				t.Fatalf("%s", r.Body)
			}
			return r
		}
		wanted, _ := decoded(t, raw).([]any)
		r := answer(versions, version.ID)
		for i, want := range wanted {
			property(t, want, r.At(t, "data", "moduleVersion", "inputs", i))
		}
		property(t, wanted[3], answer(definitions, definition.ID).At(t, "data", "defaultValueDefinition", "schema"))
	})
}

func TestInputsOfThreeLevelsAreReadWithinTheLimits(t *testing.T) {
	t.Parallel()
	const levels = 3
	inner := `{"id":"leaf","label":"L","type":"compound","fields":["cpu"],"values":[{"label":"S","fields":{"cpu":1}}]}`
	for range levels - 1 {
		inner = `{"id":"list","label":"L","type":"object_array","item_inputs":[` + inner + `]}`
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
			DefinitionID: w.Fixture(t, w.Acme, "web").Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeECS, Inputs: parsed(t, []byte("["+inner+"]")),
		})
		if err != nil {
			t.Fatal(err)
		}
		for way, every := range map[string]func(f fragments) string{
			"a fragment for each variant": func(f fragments) string { return f.plain(levels) },
			"one for what all have":       func(f fragments) string { return f.inputs(levels - 1) },
			"one for what several have":   func(f fragments) string { return f.shared(levels - 1) },
		} {
			f := fragments{}
			query := `query($id: ID!) { moduleVersion(id: $id) { id version inputs { ...` + every(f) + ` } } }`
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query+"\n"+f.text(), map[string]any{"id": version.ID})
			if r.At(t, "errors") != nil {
				t.Fatalf("%s: %s", way, r.Body)
			}
			got := r.At(t, "data", "moduleVersion", "inputs", 0, "itemInputs", 0, "itemInputs", 0, "values", "options", 0, "label")
			if got != "S" {
				t.Errorf("%s: %s", way, r.Body)
			}
		}
	})
}

func TestTheInterfacesOfInputsAnswerAsTheVariantsDo(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../internal/pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.Replace(raw, []byte("12345678901234567890"), []byte("1234567890"), 1) // which a version may have as a default
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		version, _, err := w.Catalog.PublishVersion(w.Acme.As(actor.Admin), module.NewVersion{
			DefinitionID: w.Fixture(t, w.Acme, "web").Definition.ID, Version: "2.0.0", Kind: module.DeploymentTypeECS, Inputs: parsed(t, raw),
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(every func(f fragments) string) (answer any, cost string) {
			f := fragments{}
			query := `query($id: ID!) { moduleVersion(id: $id) { inputs { ...` + every(f) + ` } } }`
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query+"\n"+f.text(), map[string]any{"id": version.ID})
			if r.At(t, "errors") != nil {
				t.Fatalf("%s", r.Body)
			}
			return r.At(t, "data"), used(t, r)
		}
		_, text, _ := strings.Cut(contentOf(t, "../docs/inputs.md"), "A form takes five fragments")
		for _, form := range examplesOf(text)[:1] {
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], form.document, map[string]any{"id": version.ID})
			if r.At(t, "errors") != nil || r.At(t, "data", "moduleVersion", "inputs", 0, "id") == nil {
				t.Errorf("%s: %s", form.document, r.Body)
			}
		}
		variants, dear := ask(func(f fragments) string { return f.plain(2) })
		interfaces, cost := ask(func(f fragments) string { return f.shared(1) })
		if diff := cmp.Diff(variants, interfaces); diff != "" || cost != dear {
			t.Errorf("by variants for %s (-), by interfaces for %s (+):\n%s", dear, cost, diff)
		}
	})
}

func decoded(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// property wants the typed form of an input to have what its JSON has, and to say of all else that it is
// absent.
func property(t *testing.T, want, got any) {
	t.Helper()
	wanted, _ := want.(map[string]any)
	found, _ := got.(map[string]any)
	if found == nil {
		t.Errorf("no property for %v", want)
		return
	}
	for name, value := range wanted {
		typed, asked := found[camel(name)]
		switch {
		case !asked:
			continue
		case name == "item_inputs", name == "mapped_inputs":
			for i, item := range value.([]any) {
				property(t, item, typed.([]any)[i])
			}
			continue
		case name == "values":
			value, typed = options(value), options(typed)
		case name == "key", name == "item_title", name == "patterns":
			value = camels(value)
		}
		if diff := cmp.Diff(value, plain(typed)); diff != "" {
			t.Errorf("%v.%s: JSON (-) and typed (+) differ: %s", wanted["id"], name, diff)
		}
	}
	for name, value := range found {
		switch {
		case value == nil, value == false, name == "__typename", wanted[snake(name)] != nil:
		case name == "moduleType" && wanted["type"] == "$ref:"+value.(string):
		default:
			t.Errorf("%v.%s: %v is not in the JSON", wanted["id"], name, value)
		}
	}
}

// options makes one form of the values of an input, in JSON and typed.
func options(v any) any {
	if object, ok := v.(map[string]any); ok {
		if object["options"] == nil {
			return plain(v)
		}
		v = object["options"]
	}
	list := []any{}
	for _, item := range v.([]any) {
		option, long := item.(map[string]any)
		value := item
		if long {
			value = option["value"]
		}
		if option["fields"] != nil {
			value = option["fields"]
		}
		list = append(list, []any{value, option["label"], option["description"]})
	}
	return list
}

// plain takes what is null, and the names of types, from typed objects; free-form JSON stays as it is.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case map[string]any:
		if v["__typename"] == nil {
			return v
		}
		object := map[string]any{}
		for name, member := range v {
			if member != nil && name != "__typename" {
				object[name] = plain(member)
			}
		}
		return object
	}
	return v
}

func camels(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = camels(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, member := range v {
			object[camel(name)] = camels(member)
		}
		return object
	}
	return v
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

func TestOneQuerySelectsEveryFieldOfDeploymentData(t *testing.T) {
	t.Parallel()
	f := fragments{}
	query := `query($id: ID!) { deployment(id: $id) { dataJson data { ...` + f.of("DeploymentData", 4) + ` } } }` + "\n" + f.text()
	full, err := os.ReadFile("../internal/pure/ecs/testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		p.Succeeded(t) // has the previous task definition
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		if _, _, err := w.Deploy.Execution.Report(runner, d.ID, p.Claim(t, d), execution.Report{Data: worldtest.Reportable(full)}); err != nil {
			t.Fatal(err)
		}
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, map[string]any{"id": d.ID})
		if r.At(t, "errors") != nil {
			t.Fatalf("%s", r.Body)
		}
		if diff := cmp.Diff(r.At(t, "data", "deployment", "dataJson"), plain(r.At(t, "data", "deployment", "data"))); diff != "" {
			t.Errorf("JSON (-) and typed (+) differ: %s", diff)
		}
	})
}
