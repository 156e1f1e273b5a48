package graph_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/test/worldtest"
)

// reading is the query of every field of a definition's schema, and of those inside it.
func reading() string {
	f := fragments{}
	every := f.inputs(1)
	return `query($id: ID!) { defaultValueDefinition(id: $id) { version schemaJson schema { ...` + every + ` } } }` + "\n" + f.text()
}

// asInput is what a client makes of an input that it has read, to write it: the value of the member that is named as
// its type, and so the inputs inside it.
func asInput(read *strictjson.Node) *strictjson.Node {
	typename, _ := strings.CutSuffix(textOf(read.Get("__typename")), "Property")
	member := strings.ToLower(typename[:1]) + typename[1:]
	property := &strictjson.Node{Kind: strictjson.Object, Keys: read.Keys, Items: slices.Clone(read.Items)}
	for i, name := range property.Keys {
		if (name == "itemInputs" || name == "mappedInputs") && property.Items[i].Kind == strictjson.Array {
			property.Items[i] = asInputs(property.Items[i])
		}
	}
	return object(member, property)
}

func asInputs(read *strictjson.Node) *strictjson.Node {
	list := &strictjson.Node{Kind: strictjson.Array}
	for _, item := range read.Items {
		list.Items = append(list.Items, asInput(item))
	}
	return list
}

func object(name string, value *strictjson.Node) *strictjson.Node {
	return &strictjson.Node{Kind: strictjson.Object, Keys: []string{name}, Items: []*strictjson.Node{value}}
}

func textOf(n *strictjson.Node) string {
	if n == nil {
		return ""
	}
	return n.Text
}

// tree is an answer with its members in their order and its numbers in their digits.
func tree(t testing.TB, r worldtest.Response, keys ...string) *strictjson.Node {
	t.Helper()
	n := parsed(t, r.Body)
	for _, key := range keys {
		if n = n.Get(key); n == nil {
			t.Fatalf("no %s in %s", key, r.Body)
		}
	}
	return n
}

func parsed(t testing.TB, text []byte) *strictjson.Node {
	t.Helper()
	n, err := strictjson.ParseWithin(text, strictjson.Limits{Depth: 200, Bytes: len(text)})
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return n
}

// schemas are the 14 variants, each with all its members, with some of them left out, and with none that may be left
// out; the collections and the reference with all the others inside.
func schemas(t testing.TB) []*strictjson.Node {
	t.Helper()
	raw, err := os.ReadFile("../internal/pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	full := parsed(t, raw).Items
	inside := parsed(t, []byte(`[{"id":"name","label":"Name","type":"string","values":[{"value":"web"},"x"]},{"id":"cidr","label":"CIDR","type":"text"}]`)).Items
	for _, p := range parsed(t, bytes.Replace(raw, []byte("12345678901234567890"), []byte("1234567890"), 1)).Items { // which a version may have
		if !holds(p) {
			inside = append(inside, p)
		}
	}
	var all []*strictjson.Node
	for i, p := range full {
		if holds(p) {
			p = with(p, "item_inputs", inside)
			p = with(p, "mapped_inputs", inside)
			if p.Get("mapped_inputs") != nil {
				p = replaced(p, "show_when", &strictjson.Node{Kind: strictjson.Object}) // it would depend on what depends on it
			}
			if p.Get("default") != nil && p.Get("default").Kind == strictjson.Object {
				p = replaced(p, "default", parsed(t, []byte(`{"web":{"name":"web"}}`)))
			}
		}
		all = append(all, p)
		for seed := range uint64(4) {
			all = append(all, thinned(p, rand.New(rand.NewPCG(uint64(i), seed))))
		}
		all = append(all, thinned(p, nil))
	}
	return all
}

func holds(p *strictjson.Node) bool {
	return p.Get("item_inputs") != nil || p.Get("mapped_inputs") != nil
}

func with(p *strictjson.Node, name string, list []*strictjson.Node) *strictjson.Node {
	if p.Get(name) == nil {
		return p
	}
	return replaced(p, name, &strictjson.Node{Kind: strictjson.Array, Items: list})
}

func replaced(p *strictjson.Node, name string, value *strictjson.Node) *strictjson.Node {
	items := slices.Clone(p.Items)
	items[slices.Index(p.Keys, name)] = value
	return &strictjson.Node{Kind: strictjson.Object, Keys: p.Keys, Items: items}
}

// thinned leaves out what may be left out of an input and of what is inside it: by chance, or all if there is none.
// A flag may be turned off instead.
func thinned(p *strictjson.Node, chance *rand.Rand) *strictjson.Node {
	thin := &strictjson.Node{Kind: strictjson.Object}
	kind := textOf(p.Get("type"))
	for i, name := range p.Keys {
		value := p.Items[i]
		switch {
		case isNeeded(kind, name):
		case chance == nil, chance.IntN(2) == 0:
			continue
		case value.Kind == strictjson.Bool && chance.IntN(2) == 0:
			value = &strictjson.Node{Kind: strictjson.Bool}
		}
		switch name {
		case "item_inputs", "mapped_inputs":
			list := &strictjson.Node{Kind: strictjson.Array}
			for _, item := range value.Items {
				list.Items = append(list.Items, thinned(item, chance))
			}
			value = list
		case "key", "item_title":
			value = thinned(value, chance)
		}
		thin.Keys, thin.Items = append(thin.Keys, name), append(thin.Items, value)
	}
	if i := slices.Index(thin.Keys, "default"); i >= 0 && textOf(thin.Items[i]) == inputprop.First && thin.Get("values") == nil {
		thin.Keys, thin.Items = slices.Delete(thin.Keys, i, i+1), slices.Delete(thin.Items, i, i+1) // the first of none
	}
	return thin
}

func isNeeded(kind, name string) bool {
	switch name {
	case "id", "label", "type", "item_inputs", "fields", "template":
		return kind != "" || name == "template"
	case "values":
		return kind == "compound"
	case "default":
		return kind == "boolean"
	}
	return false
}

func TestWhatIsReadOfAnInputIsWrittenBackWithoutAChange(t *testing.T) {
	t.Parallel()
	query := reading()
	const create = `mutation($schema: JSON!) { createDefaultValueDefinition(input: {givenId: "%s", name: "D", schema: {json: $schema}}) { defaultValueDefinition { id } } }`
	const update = `mutation($id: ID!, $schema: InputPropertyInput!) { updateDefaultValueDefinition(input: {id: $id, schema: $schema}) {
		defaultValueDefinition { version } changes { field before after } warnings { rule } } }`
	all := schemas(t)
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		for i, schema := range all {
			created := w.GraphQL(t, admin, fmt.Sprintf(create, fmt.Sprintf("d-%d", i)), object("schema", schema))
			if created.Refusal(t) != nil {
				t.Fatalf("%s: %s", schema.JSON(), created.Body)
			}
			id := created.Text(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id")
			read := w.GraphQL(t, admin, query, map[string]any{"id": id})
			if read.Refusal(t) != nil {
				t.Fatalf("%s", read.Body)
			}
			record := tree(t, read, "data", "defaultValueDefinition")
			path := "/default-value-definitions/" + id
			overREST := w.REST(t, http.MethodPatch, path, admin, `{"data":{}}`, nil)
			rows := w.Rows(t)
			for way, schema := range map[string]*strictjson.Node{
				"typed": asInput(record.Get("schema")), "schemaJson": object("json", record.Get("schemaJson")),
				"REST to json": object("json", tree(t, overREST, "data", "schema")),
			} {
				r := w.GraphQL(t, admin, update, map[string]any{"id": id, "schema": schema})
				want := `{"data":{"updateDefaultValueDefinition":{"defaultValueDefinition":{"version":1},"changes":[],"warnings":[]}}`
				if !strings.HasPrefix(string(r.Body), want) {
					t.Errorf("%s of %s: %s", way, schema.JSON(), r.Body)
				}
			}
			for way, schema := range map[string]*strictjson.Node{"REST": tree(t, overREST, "data", "schema"), "schemaJson to REST": record.Get("schemaJson")} {
				r := w.REST(t, http.MethodPatch, path, admin, `{"data":`+string(object("schema", schema).JSON())+`}`, nil)
				if !bytes.Equal(r.Body, overREST.Body) || r.Header.Get("ETag") != overREST.Header.Get("ETag") || r.Header.Get("ETag") == "" {
					t.Errorf("%s of %s: %s", way, schema.JSON(), r.Body)
				}
			}
			if diff := cmp.Diff(rows, w.Rows(t)); diff != "" {
				t.Errorf("%s: %s", schema.JSON(), diff)
			}
		}
	})
}

// What was read is a new definition's schema, a version's inputs and inputs to be judged just as well, with the digits
// of numbers and the order of members.
func TestWhatIsReadOfAnInputIsWrittenElsewhere(t *testing.T) {
	t.Parallel()
	query := reading()
	f := fragments{}
	every := f.inputs(1)
	const create = `mutation($id: GivenId!, $schema: InputPropertyInput!) { createDefaultValueDefinition(input: {givenId: $id, name: "D", schema: $schema}) {
		defaultValueDefinition { id } } }`
	publish := `mutation($id: ID!, $version: String!, $inputs: [InputPropertyInput!]!) {
		publishModuleVersion(input: {moduleDefinitionId: $id, version: $version, deploymentType: "aws:ecs", inputs: $inputs}) { moduleVersion { inputs { ...` + every + ` } } } }` + "\n" + f.text()
	const judge = `query($inputs: [InputPropertyInput!]) { validateInputs(input: {inputs: $inputs, values: {}}) { warnings { rule } violations { rule } } }`
	// What the conditions and parameters of the variants name.
	siblings := parsed(t, []byte(`[{"id":"region","label":"R","type":"string"},{"id":"notes","label":"N","type":"text"},
		{"id":"anything","label":"A","type":"array"},{"id":"public","label":"P","type":"boolean","default":false}]`)).Items
	all := schemas(t)
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		place := w.Fixture(t, w.Acme, "web")
		for i, schema := range all {
			made := func(givenID string, schema *strictjson.Node) *strictjson.Node {
				r := w.GraphQL(t, admin, create, map[string]any{"id": givenID, "schema": schema})
				if r.Refusal(t) != nil {
					t.Fatalf("%s: %s", schema.JSON(), r.Body)
				}
				id := r.Text(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id")
				return tree(t, w.GraphQL(t, admin, query, map[string]any{"id": id}), "data", "defaultValueDefinition", "schema")
			}
			read := made(fmt.Sprintf("a-%d", i), object("json", schema))
			if kind := textOf(read.Get("type")); (kind == "object" || kind == "array") && schema.Get("default") != nil {
				if diff := cmp.Diff(string(schema.Get("default").JSON()), string(read.Get("default").JSON())); diff != "" {
					t.Errorf("free-form JSON: %s", diff)
				}
			}
			again := made(fmt.Sprintf("b-%d", i), asInput(read))
			if diff := cmp.Diff(string(read.JSON()), string(again.JSON())); diff != "" {
				t.Errorf("a new definition: %s", diff)
			}
			if strings.Contains(string(read.JSON()), "12345678901234567890") {
				continue // a number that a release could not keep
			}
			inputs := []any{asInput(read)}
			for _, p := range siblings {
				if textOf(p.Get("id")) != textOf(read.Get("id")) && read.Get("mappedInputs") == nil {
					inputs = append(inputs, object("json", p))
				}
			}
			if r := w.GraphQL(t, admin, judge, map[string]any{"inputs": inputs}); r.Refusal(t) != nil {
				t.Errorf("%s: %s", read.JSON(), r.Body)
			}
			r := w.GraphQL(t, admin, publish, map[string]any{"id": place.Definition.ID, "version": fmt.Sprintf("2.0.%d", i), "inputs": inputs})
			if r.Refusal(t) != nil {
				t.Errorf("%s: %s", read.JSON(), r.Body)
			} else if published := tree(t, r, "data", "publishModuleVersion", "moduleVersion", "inputs").Items[0]; string(published.JSON()) != string(read.JSON()) {
				t.Errorf("a version: %s", cmp.Diff(string(read.JSON()), string(published.JSON())))
			}
		}
	})
}

// literal writes a value as GraphQL's own literal of it.
func literal(n *strictjson.Node) string {
	var parts []string
	switch n.Kind {
	case strictjson.Object:
		for i, name := range n.Keys {
			parts = append(parts, name+": "+literal(n.Items[i]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case strictjson.Array:
		for _, item := range n.Items {
			parts = append(parts, literal(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return string(n.JSON())
	}
}

func TestWhatIsReadOfAnInputIsWrittenBackAsALiteral(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	admin, query := w.Acme.Tokens[actor.Admin], reading()
	for i, schema := range schemas(t) {
		text := string(schema.JSON())
		if strings.Contains(text, "12345678901234567890") || strings.Contains(text, "a/b") || strings.Contains(text, "item_inputs") {
			continue // what a literal cannot say, and what is over its limit of tokens
		}
		created := w.GraphQL(t, admin, `mutation($id: GivenId!, $schema: JSON!) { createDefaultValueDefinition(input: {givenId: $id, name: "D", schema: {json: $schema}}) {
			defaultValueDefinition { id } } }`, map[string]any{"id": fmt.Sprintf("d-%d", i), "schema": schema})
		id := created.Text(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id")
		read := asInput(tree(t, w.GraphQL(t, admin, query, map[string]any{"id": id}), "data", "defaultValueDefinition", "schema"))
		r := w.GraphQL(t, admin, `mutation { updateDefaultValueDefinition(input: {id: "`+id+`", schema: `+literal(read)+`}) { defaultValueDefinition { version } changes { field } } }`, nil)
		if want := `{"data":{"updateDefaultValueDefinition":{"defaultValueDefinition":{"version":1},"changes":[]}}`; !strings.HasPrefix(string(r.Body), want) {
			t.Errorf("%s: %s", literal(read), r.Body)
		}
	}
}

func TestWhatWasReadOfAnotherTypeIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	admin := w.Acme.Tokens[actor.Admin]
	for _, c := range []struct{ property, pointer, rule string }{
		{`{"string":{"type":"text","id":"a","label":"A"}}`, "/type", "other_type"},
		{`{"reference":{"type":"$ref:a","moduleType":"b","id":"a","label":"A"}}`, "/type", "other_type"},
		{`{"objectArray":{"id":"a","label":"A","itemInputs":[{"text":{"id":"b","label":"B","type":"string"}}]}}`, "/item_inputs/0/type", "other_type"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"__typename":"X","value":"x"}]}}}`, "/values/0/__typename", "other_type"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"value":"x","label":1}]}}}`, "/values/0/label", "type"},
		{`{"string":{"id":"a","label":"A","values":{"options":[{"value":"x"},{"value":"x"}]}}}`, "/values/1", "unique_value"},
	} {
		n := parsed(t, []byte(c.property))
		for way, r := range map[string]worldtest.Response{
			"variable": w.GraphQL(t, admin, `mutation($schema: InputPropertyInput!) { createDefaultValueDefinition(input: {givenId: "a", name: "A", schema: $schema}) {
				defaultValueDefinition { id } } }`, object("schema", n)),
			"literal": w.GraphQL(t, admin, `mutation { createDefaultValueDefinition(input: {givenId: "a", name: "A", schema: `+literal(n)+`}) { defaultValueDefinition { id } } }`, nil),
		} {
			told, _ := r.Refusal(t)["metadata"].(map[string]any)
			violations, _ := told["violations"].([]any)
			if len(violations) != 1 {
				t.Errorf("%s as a %s: %s", c.property, way, r.Body)
				continue
			}
			if v := violations[0].(map[string]any); v["pointer"] != "/input/schema"+c.pointer || v["rule"] != c.rule {
				t.Errorf("%s as a %s: %v, want %s %s", c.property, way, v, c.pointer, c.rule)
			}
		}
	}
	for property, message := range map[string]string{
		`{"string":{"__typename":"TextProperty","id":"a","label":"A"}}`:                                                     `must be "StringProperty"`,
		`{"string":{"__typename":["x"],"id":"a","label":"A"}}`:                                                              `must be "StringProperty"`,
		`{"string":{"__typename":null,"id":"a","label":"A"}}`:                                                               `must be "StringProperty"`,
		`{"string":{"typename":"StringProperty","id":"a","label":"A"}}`:                                                     `StringPropertyInput`,
		`{"string":{"id":null,"label":"A"}}`:                                                                                `String!`,
		`{"__typename":"StringProperty","string":{"id":"a","label":"A"}}`:                                                   `exactly one`,
		`{"objectMap":{"id":"a","label":"A","itemInputs":[],"key":{"__typename":"ItemTitle"}}}`:                             `must be "MapKey"`,
		`{"objectArray":{"id":"a","label":"A","itemInputs":[{"text":{"__typename":"Text","id":"b","label":"B"}}]}}`:         `must be "TextProperty"`,
		`{"text":{"id":"a","label":"A","patterns":[{"__typename":"ItemTitle","pattern":"a","message":"m"}]}}`:               `must be "ValidationPattern"`,
		`{"objectArray":{"id":"a","label":"A","itemInputs":[],"itemTitle":{"__typename":"ItemTitleInput","template":"a"}}}`: `must be "ItemTitle"`,
	} {
		n := parsed(t, []byte(property))
		variable := w.GraphQL(t, admin, `query($v: InputPropertyInput!) { validateInputs(input: {inputs: [$v], values: {}}) { valid } }`, object("v", n))
		document := w.GraphQL(t, admin, `query { validateInputs(input: {inputs: [`+literal(n)+`], values: {}}) { valid } }`, nil)
		if variable.Code(t) != "slipway:Document:VARIABLES_INVALID" || document.Code(t) != "slipway:Document:VALIDATION_FAILED" {
			t.Errorf("%s: %s %s", property, variable.Body, document.Body)
		}
		for _, r := range []worldtest.Response{variable, document} {
			if told := strings.ReplaceAll(string(r.Body), `\"`, `"`); !strings.Contains(told, message) {
				t.Errorf("%s: want %s: %s", property, message, r.Body)
			}
		}
	}
	definition := w.REST(t, http.MethodPost, "/graphql", admin, `{"query":"mutation { createDefaultValueDefinition(input: {givenId: \"a\", name: \"A\", schema: {section: {id: \"a\", label: \"A\"}}}) { defaultValueDefinition { id } } }"}`, nil).
		Text(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id")
	r := w.REST(t, http.MethodPatch, "/default-value-definitions/"+definition, admin, `{"data":{"schema":{"__typename":"SectionProperty","id":"a","label":"A","type":"section","description":null}}}`, nil)
	if r.Status != http.StatusBadRequest || !strings.Contains(string(r.Body), `"/data/schema/__typename","rule":"unknown_field"`) || !strings.Contains(string(r.Body), `"/data/schema/description","rule":"null"`) {
		t.Errorf("REST takes what it does not have: %d %s", r.Status, r.Body)
	}
}

func TestTheDocumentationSaysWhichMemberATypeIsWrittenAs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/inputs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range schema.Types["InputPropertyInput"].Fields {
		typename, is := strings.CutSuffix(field.Type.Name(), "Input")
		if !is {
			continue
		}
		kind := strings.Trim(schema.Types[typename].Fields.ForName("type").Description, ".")
		if row := fmt.Sprintf("| `%s` | `%s` | %s |\n", typename, field.Name, kind); !strings.Contains(string(text), row) {
			t.Errorf("docs/inputs.md does not have %s", row)
		}
		if read := (&strictjson.Node{Kind: strictjson.String, Text: typename}); asInput(object("__typename", read)).Keys[0] != field.Name {
			t.Errorf("%s is not named as its type %s", field.Name, typename)
		}
	}
}
