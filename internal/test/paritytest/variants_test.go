package paritytest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/pure/inputprop"
	"slipway/internal/test/worldtest"
)

func TestEveryVariantReadsBackAsItWentIn(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := definition(t, w, w.Acme, "image", plainSchema)
		admin := w.Acme.Tokens[actor.Admin]
		ways := map[string]func(schema map[string]any) worldtest.Response{
			"REST": func(schema map[string]any) worldtest.Response {
				return update.rest(t, w, admin, d.ID, `{"schema":`+text(t, schema)+`}`)
			},
			"GraphQL json": func(schema map[string]any) worldtest.Response {
				return update.graphQL(t, w, admin, d.ID, `{"schema":`+text(t, schema)+`}`)
			},
			"GraphQL typed": func(schema map[string]any) worldtest.Response {
				input := map[string]any{"id": d.ID, "schema": typed(schema)}
				return w.GraphQL(t, admin, update.document, map[string]any{"input": input})
			},
			"GraphQL literal": func(schema map[string]any) worldtest.Response {
				document := `mutation { updateDefaultValueDefinition(input: {id: "` + d.ID + `", schema: ` + literal(t, typed(schema)) + `}) { warnings { rule } } }`
				return w.GraphQL(t, admin, document, nil)
			},
		}
		for _, schema := range schemas(t) {
			for way, write := range ways {
				// What was there before is something else, so that nothing is read back that was not written.
				update.rest(t, w, admin, d.ID, `{"schema":`+plainSchema+`}`)
				if way == "GraphQL literal" {
					schema = asLiteral(schema).(map[string]any)
				}
				if r := write(schema); r.Refusal(t) != nil {
					t.Errorf("%s: %s: %s", way, text(t, schema), r.Body)
				}
				readBack(t, w, d.ID, way, schema)
			}
		}
	})
}

func readBack(t *testing.T, w *worldtest.World, id, way string, schema map[string]any) {
	t.Helper()
	admin := w.Acme.Tokens[actor.Admin]
	overREST := update.rest(t, w, admin, id, `{}`).At(t, "data", "schema")
	if diff := cmp.Diff(any(schema), overREST, sameNumbers(way)); diff != "" {
		t.Errorf("written over %s (-) and read over REST (+): %s", way, diff)
	}
	overGraphQL := w.GraphQL(t, admin, `query($id: ID!) { defaultValueDefinition(id: $id) { schemaJson } }`, map[string]any{"id": id}).
		At(t, "data", "defaultValueDefinition", "schemaJson")
	if diff := cmp.Diff(any(schema), overGraphQL, sameNumbers(way)); diff != "" {
		t.Errorf("written over %s (-) and read over GraphQL (+): %s", way, diff)
	}
}

// sameNumbers compares numbers by their digits, but those of literals, which keep their value only.
func sameNumbers(way string) cmp.Option {
	return cmp.Comparer(func(a, b json.Number) bool {
		if way != "GraphQL literal" {
			return a == b
		}
		x, _ := new(big.Rat).SetString(a.String())
		y, _ := new(big.Rat).SetString(b.String())
		return x.Cmp(y) == 0
	})
}

var graphQLName = regexp.MustCompile(`^[_A-Za-z][_0-9A-Za-z]*$`)

// asLiteral takes away what a literal cannot hold: whole numbers beyond 64 bits, and members whose names
// are none of GraphQL's.
func asLiteral(v any) any {
	switch v := v.(type) {
	case map[string]any:
		small := make(map[string]any, len(v))
		for name, member := range v {
			if graphQLName.MatchString(name) {
				small[name] = asLiteral(member)
			}
		}
		return small
	case []any:
		small := make([]any, len(v))
		for i, item := range v {
			small[i] = asLiteral(item)
		}
		return small
	case json.Number:
		if whole, ok := new(big.Int).SetString(v.String(), 10); ok && !whole.IsInt64() {
			return json.Number("64")
		}
	}
	return v
}

// literal writes a value as GraphQL's own literal of it.
func literal(t testing.TB, v any) string {
	t.Helper()
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+": "+literal(t, v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, literal(t, item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return text(t, v)
}

// schemas are the 14 variants, each with every field that it may have, again with every flag false, and
// again with nothing but what it must have.
func schemas(t testing.TB) []map[string]any {
	t.Helper()
	raw, err := os.ReadFile("../../pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(inputprop.Variants()) {
		t.Fatalf("the fixture has %d variants", len(all))
	}
	for _, full := range slices.Clone(all) {
		off, least := maps.Clone(full), maps.Clone(full)
		for name, value := range full {
			if _, flag := value.(bool); flag {
				off[name] = false
			}
		}
		maps.DeleteFunc(least, func(name string, _ any) bool { return !needed(full["type"], name) })
		all = append(all, off, least)
	}
	return all
}

func needed(kind any, name string) bool {
	switch name {
	case "id", "label", "type", "item_inputs", "fields":
		return true
	case "values":
		return kind == "compound"
	case "default":
		return kind == "boolean"
	}
	return false
}

func text(t testing.TB, v any) string {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// typed writes a property as GraphQL's one-of input has it.
func typed(property map[string]any) map[string]any {
	fields := map[string]any{}
	for name, value := range property {
		switch name {
		case "type":
			continue
		case "item_inputs", "mapped_inputs":
			value = typedList(value.([]any))
		case "key":
			key := map[string]any{}
			for k, v := range value.(map[string]any) {
				key[camel(k)] = v
			}
			value = key
		}
		fields[camel(name)] = value
	}
	kind := fmt.Sprint(property["type"])
	if moduleType, ok := strings.CutPrefix(kind, "$ref:"); ok {
		fields["moduleType"] = moduleType
		return map[string]any{"reference": fields}
	}
	if member, ok := map[string]string{"gitrepo": "gitRepo", "keyvalue": "keyValue"}[kind]; ok {
		return map[string]any{member: fields}
	}
	return map[string]any{camel(kind): fields}
}

func typedList(list []any) []any {
	inputs := make([]any, len(list))
	for i, item := range list {
		inputs[i] = typed(item.(map[string]any))
	}
	return inputs
}

// camel turns snake_case into camelCase.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}
