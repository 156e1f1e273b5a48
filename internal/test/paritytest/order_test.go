package paritytest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// ordered is JSON whose order of keys and whose digits no map and no float would keep.
const ordered = `{"z":1.50,"a":[1e3,{"y":-0,"b":0.10}],"m":"x"}`

// orderedLiteral is the JSON as a GraphQL literal.
const orderedLiteral = `{z: 1.50, a: [1e3, {y: -0, b: 0.10}], m: "x"}`

func TestSchemasKeepTheirOrderAndDigitsHoweverTheyCome(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		const schema = `{"id":"o","label":"O","type":"object","default":` + ordered + `}`
		const update = `updateDefaultValueDefinition(input: $i) { defaultValueDefinition { id } }`
		literal := func(schema string) string {
			return `mutation($id: ID!) { updateDefaultValueDefinition(input: {id: $id, schema: ` + schema + `}) { defaultValueDefinition { id } } }`
		}
		const updated = `mutation($i: UpdateDefaultValueDefinitionInput!) { ` + update + ` }`
		input := func(id, schema string) map[string]any {
			return map[string]any{"i": map[string]any{"id": id, "schema": json.RawMessage(schema)}}
		}
		for name, send := range map[string]func(id string) worldtest.Response{
			"REST": func(id string) worldtest.Response {
				return w.REST(t, http.MethodPatch, "/default-value-definitions/"+id, admin, `{"data":{"schema":`+schema+`}}`, nil)
			},
			"json": func(id string) worldtest.Response {
				return w.GraphQL(t, admin, updated, input(id, `{"json":`+schema+`}`))
			},
			"typed": func(id string) worldtest.Response {
				return w.GraphQL(t, admin, updated, input(id, `{"object":{"default":`+ordered+`,"label":"O","id":"o"}}`))
			},
			"json, a literal": func(id string) worldtest.Response {
				return w.GraphQL(t, admin, literal(`{json: {id: "o", label: "O", type: "object", default: `+orderedLiteral+`}}`), map[string]any{"id": id})
			},
			"typed, a literal": func(id string) worldtest.Response {
				return w.GraphQL(t, admin, literal(`{object: {__typename: "ObjectProperty", id: "o", label: "O", default: `+orderedLiteral+`}}`), map[string]any{"id": id})
			},
			"json, a default": func(id string) worldtest.Response {
				return w.GraphQL(t, admin, `mutation($i: UpdateDefaultValueDefinitionInput! = {id: "`+id+`", schema: {json: {id: "o", label: "O", type: "object", default: `+orderedLiteral+`}}}) { `+update+` }`, nil)
			},
			"variables in literals": func(id string) worldtest.Response {
				return w.GraphQL(t, admin, `mutation($id: ID!, $o: String!, $a: JSON) { updateDefaultValueDefinition(input: {id: $id, schema: {object: {
					id: $o, label: "O", default: {z: 1.50, a: $a, m: "x"}}}}) { defaultValueDefinition { id } } }`,
					map[string]any{"id": id, "o": "o", "a": json.RawMessage(`[1e3,{"y":-0,"b":0.10}]`)})
			},
		} {
			d := definition(t, w, w.Acme, "d-"+strings.NewReplacer(" ", "", ",", "").Replace(name), plainSchema)
			if r := send(d.ID); r.Status != http.StatusOK || r.Code(t) != "" {
				t.Errorf("%s: %d %s", name, r.Status, r.Body)
				continue
			}
			for surface, r := range map[string]worldtest.Response{
				"REST":    w.REST(t, http.MethodPatch, "/default-value-definitions/"+d.ID, admin, `{"data":{}}`, nil),
				"GraphQL": w.GraphQL(t, admin, `query($id: ID!) { defaultValueDefinition(id: $id) { schemaJson } }`, map[string]any{"id": d.ID}),
			} {
				if !strings.Contains(string(r.Body), `"default":`+ordered) {
					t.Errorf("%s, read over %s: %s", name, surface, r.Body)
				}
			}
		}
	})
}

func TestEveryObjectOfFreeNamesKeepsItsOrder(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		admin := w.Acme.Tokens[actor.Admin]
		for i, c := range []struct{ member, schema string }{
			{"keyValue", `{"id":"k","label":"K","type":"keyvalue","default":{"z":"1","a":"2","m":"3"}}`},
			{"compound", `{"id":"c","label":"C","type":"compound","fields":["b","a"],"default":{"b":2,"a":true},"values":[{"label":"L","fields":{"z":"x","b":2,"a":true}}]}`},
			{"string", `{"id":"s","label":"S","type":"string","values":{"source":"module_instances","params":{"type":"web","environmentId":"env_1"}}}`},
		} {
			d := definition(t, w, w.Acme, fmt.Sprint("ordered-", i), plainSchema)
			input := func(schema string) map[string]any {
				return map[string]any{"i": map[string]any{"id": d.ID, "schema": json.RawMessage(schema)}}
			}
			const set = `mutation($i: UpdateDefaultValueDefinitionInput!) { updateDefaultValueDefinition(input: $i) { defaultValueDefinition { version } } }`
			for way, send := range map[string]func() worldtest.Response{
				"REST": func() worldtest.Response {
					return w.REST(t, http.MethodPatch, "/default-value-definitions/"+d.ID, admin, `{"data":{"schema":`+c.schema+`}}`, nil)
				},
				"json":  func() worldtest.Response { return w.GraphQL(t, admin, set, input(`{"json":`+c.schema+`}`)) },
				"typed": func() worldtest.Response { return w.GraphQL(t, admin, set, input(`{"`+c.member+`":`+c.schema+`}`)) },
			} {
				if r := send(); r.Status != http.StatusOK || r.Code(t) != "" {
					t.Errorf("%s over %s: %d %s", c.member, way, r.Status, r.Body)
				}
				for surface, r := range map[string]worldtest.Response{
					"REST":    w.REST(t, http.MethodPatch, "/default-value-definitions/"+d.ID, admin, `{"data":{}}`, nil),
					"GraphQL": w.GraphQL(t, admin, `query($id: ID!) { defaultValueDefinition(id: $id) { schemaJson } }`, map[string]any{"id": d.ID}),
				} {
					for _, part := range regexp.MustCompile(`"(default|fields|params)":\{[^}]*\}`).FindAllString(c.schema, -1) {
						if !strings.Contains(string(r.Body), part) {
							t.Errorf("%s over %s, read over %s, lacks %s: %s", c.member, way, surface, part, r.Body)
						}
					}
				}
			}
		}
	})
}

func TestNumbersOfVariablesKeepDigitsThatNoDoubleHas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := definition(t, w, w.Acme, "image", plainSchema)
		const given = `{"b":12345678901234567890,"a":1.50}`
		const schema = `{"id":"o","label":"O","type":"object","default":` + given + `}`
		overREST := w.REST(t, http.MethodPatch, "/default-value-definitions/"+d.ID, w.Acme.Tokens[actor.Admin], `{"data":{"schema":`+schema+`}}`, nil)
		overGraphQL := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($id: ID!, $s: InputPropertyInput!) {
			updateDefaultValueDefinition(input: {id: $id, schema: $s}) { defaultValueDefinition { schemaJson version } changes { field } } }`,
			map[string]any{"id": d.ID, "s": json.RawMessage(`{"json":` + schema + `}`)})
		for _, r := range []worldtest.Response{overREST, overGraphQL} {
			if !strings.Contains(string(r.Body), given) {
				t.Errorf("%s", r.Body)
			}
		}
		if changes := overGraphQL.At(t, "data", "updateDefaultValueDefinition", "changes"); len(changes.([]any)) != 0 {
			t.Errorf("the same schema over the other surface changes %v", changes)
		}
	})
}

func TestAReleaseIsCanonicalAndDataIsAsWritten(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		const definition = `{"z":1.50,"family":"web","a":[1e3]}`
		r := w.GraphQL(t, w.Acme.Tokens[actor.Developer], `mutation($i: CreateDeploymentInput!) { createDeployment(input: $i) {
			deployment { dataJson release { inputs artifact } } } }`, map[string]any{"i": map[string]any{
			"moduleInstanceId": p.Instance.ID, "moduleVersionId": p.Version.ID,
			"inputs": json.RawMessage(`{"replicas":2.0,"image":"web:1"}`), "artifact": json.RawMessage(`{"revision":7,"definition":` + definition + `}`),
		}})
		if !strings.Contains(string(r.Body), `"release":{"inputs":{"image":"web:1","replicas":2},"artifact":{"definition":{"a":[1000],"family":"web","z":1.5},"revision":7}}`) {
			t.Errorf("the release: %s", r.Body)
		}
		if !strings.Contains(string(r.Body), `"definition":`+definition) {
			t.Errorf("the data: %s", r.Body)
		}
	})
}
