package journal_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// variants are mutations whose event says something else than that of their case in mutations.
var variants = map[string][]mutation{
	"createToken": {{actor.Superadmin, func(*testing.T, *worldtest.World, *worldtest.Fixture) in {
		return in{"name": "N", "role": "SUPERADMIN"}
	}}},
	"cancelDeployment": {
		{actor.Developer, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in { return in{"id": claimed(t, p)["id"]} }},
		{actor.Admin, func(t *testing.T, w *worldtest.World, p *worldtest.Fixture) in {
			id := claimed(t, p)["id"]
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), id.(string), nil); err != nil {
				t.Fatal(err)
			}
			before := time.Now().Add(-time.Hour).UTC()
			if _, err := w.Raw(t, w.Acme).Exec(`UPDATE deployments SET cancel_requested_at = $1 WHERE id = $2`, before, id); err != nil {
				t.Fatal(err)
			}
			return in{"id": id, "force": true}
		}},
	},
	"completeDeployment": {{actor.Runner, func(t *testing.T, _ *worldtest.World, p *worldtest.Fixture) in {
		i := claimed(t, p)
		i["error"] = in{"message": "it broke"}
		return i
	}}},
}

func TestWhatAnEventSaysHasTheNamesOfTheAPI(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t)
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		said := 0
		for _, field := range schema.Mutation.Fields {
			if mutations[field.Name].input == nil {
				t.Errorf("%s: no case", field.Name)
				continue
			}
			for i, m := range append([]mutation{mutations[field.Name]}, variants[field.Name]...) {
				input := m.input(t, w, w.Fixture(t, w.Acme, fmt.Sprintf("%s-%d", field.Name, i)))
				seen := noted(t, w)
				m.send(t, w, field, input)
				for id, e := range noted(t, w) {
					if seen[id] != nil || e.Changes == nil {
						continue
					}
					var changes map[string]any
					if err := json.Unmarshal(e.Changes, &changes); err != nil {
						t.Errorf("%s: %v", field.Name, err)
					}
					said++
					named(t, schema, "the event of "+field.Name, membersOf(schema, field), changes)
				}
				cancelAll(t, w)
			}
		}
		if said < 20 {
			t.Errorf("only %d events say something", said)
		}
	})
}

// membersOf has what a mutation takes and the fields of the objects that it answers with, by their names.
func membersOf(schema *ast.Schema, mutation *ast.FieldDefinition) map[string]*ast.Type {
	members := fieldsOf(schema, mutation.Arguments[0].Type)
	for _, object := range schema.Types[mutation.Type.Name()].Fields {
		maps.Copy(members, fieldsOf(schema, object.Type))
	}
	return members
}

func fieldsOf(schema *ast.Schema, t *ast.Type) map[string]*ast.Type {
	fields := map[string]*ast.Type{}
	for _, f := range schema.Types[t.Name()].Fields {
		fields[f.Name] = f.Type
	}
	return fields
}

// named wants each member of an object to be one of those that are known, and so on in the objects within it.
func named(t *testing.T, schema *ast.Schema, where string, known map[string]*ast.Type, object map[string]any) {
	t.Helper()
	for name, value := range object {
		of, ok := known[name]
		if !ok {
			t.Errorf("%s: the API has no %q", where, name)
			continue
		}
		inner, isObject := value.(map[string]any)
		if fields := fieldsOf(schema, of); isObject && len(fields) > 0 && schema.Types[of.Name()].Kind == ast.Object {
			named(t, schema, where+": "+name, fields, inner)
		}
	}
}
