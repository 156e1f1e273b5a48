package graph_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway"
	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// updateCase is a mutation that updates a record.
type updateCase struct {
	// object is the member of the payload that has the record, and fields are those that are compared.
	object, fields string
	// values has another value for each member of the input but the id, and changes which of the fields, or of what is in
	// them, it may change besides the one of its name.
	values  map[string]any
	changes map[string][]string
}

// Each mutation that updates something, given one member of its input, keeps all that the others would set.
func TestAnUpdateKeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	ruled := map[string]any{"approvals": map[string]any{"count": 2, "role": "ADMIN", "holders": []string{"ann", "bob"}}}
	cases := map[string]updateCase{
		"updateDefaultValueDefinition": {"defaultValueDefinition", "name description schemaJson version", map[string]any{
			"name": "Other", "description": "Other", "schema": map[string]any{"string": map[string]any{"id": "b", "label": "B"}},
		}, map[string][]string{"name": {"version"}, "description": {"version"}, "schema": {"schemaJson", "version"}}},
		"updateModuleDefinition": {"moduleDefinition", "name type description status", map[string]any{
			"name": "Other", "type": "other", "description": "Other", "status": "DRAFT",
		}, nil},
		"updateProject":     {"project", "name slug", map[string]any{"name": "Other", "slug": "other"}, nil},
		"updateEnvironment": {"environment", "name slug", map[string]any{"name": "Other", "slug": "other"}, nil},
		"updateModuleInstance": {"moduleInstance", "name ownInputs onFailure", map[string]any{
			"name": "other", "ownInputs": []string{"replicas"}, "onFailure": "NOTHING",
		}, nil},
		"updateRule": {"rule", "name operations overridable demand { ... on ApprovalsDemand { count role holders } } version", map[string]any{
			"name": "Other", "operations": []string{"CREATE"}, "overridable": true, "demand": ruled,
		}, map[string][]string{"name": {"version"}, "operations": {"version"}, "overridable": {"version"}, "demand": {"version"}}},
	}
	// options are members that say how an update is made, and set nothing.
	options := map[string][]string{
		"updateDefaultValueDefinition": {"expectedVersion", "dryRun"}, "updateRule": {"expectedVersion"},
	}

	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		u := updater{t, w, w.Fixture(t, w.Acme, "web")}
		schema := gqlparser.MustLoadSchema(&ast.Source{Input: string(slipway.Schema)})
		for _, field := range schema.Mutation.Fields {
			if !strings.HasPrefix(field.Name, "update") {
				continue
			}
			c, known := cases[field.Name]
			if !known {
				t.Errorf("%s is not tried", field.Name)
				continue
			}
			for _, member := range schema.Types[field.Arguments[0].Type.Name()].Fields {
				value, tried := c.values[member.Name]
				switch {
				case member.Name == "id" || slices.Contains(options[field.Name], member.Name):
				case !tried:
					t.Errorf("%s is not tried with %s", field.Name, member.Name)
				default:
					u.compare(field.Name, c, member.Name, value)
				}
			}
		}
	})
}

type updater struct {
	t *testing.T
	w *worldtest.World
	p *worldtest.Fixture
}

// compare makes a record whose members are all set, sends one of them, and compares the others.
func (u updater) compare(mutation string, c updateCase, member string, value any) {
	u.t.Helper()
	id := u.make(mutation, member)
	before := u.update(mutation, c, map[string]any{"id": id})
	after := u.update(mutation, c, map[string]any{"id": id, member: value})
	for field, was := range before {
		may := append(c.changes[member], member)
		if is := after[field]; reflect.DeepEqual(was, is) == slices.Contains(may, field) {
			u.t.Errorf("%s with %s: %s was %v, is %v", mutation, member, field, was, is)
		}
	}
}

// update sends an update, and returns the fields of the record.
func (u updater) update(mutation string, c updateCase, input map[string]any) map[string]any {
	u.t.Helper()
	query := fmt.Sprintf(`mutation($i: %sInput!) { m: %s(input: $i) { %s { %s } } }`,
		strings.ToUpper(mutation[:1])+mutation[1:], mutation, c.object, c.fields)
	r := u.w.GraphQL(u.t, u.w.Acme.Tokens[actor.Admin], query, map[string]any{"i": input})
	found, ok := r.At(u.t, "data", "m", c.object).(map[string]any)
	if !ok {
		u.t.Fatalf("%s %v: %s", mutation, input, r.Body)
	}
	return found
}

// make creates a record of which every member is set, named after the case.
func (u updater) make(mutation, member string) (id string) {
	u.t.Helper()
	name := strings.ToLower(mutation + "-" + member)
	create := func(mutation, object string, input map[string]any) string {
		u.t.Helper()
		query := fmt.Sprintf(`mutation($i: %sInput!) { m: %s(input: $i) { %s { id } } }`, strings.ToUpper(mutation[:1])+mutation[1:], mutation, object)
		r := u.w.GraphQL(u.t, u.w.Acme.Tokens[actor.Admin], query, map[string]any{"i": input})
		made, ok := r.At(u.t, "data", "m", object, "id").(string)
		if !ok {
			u.t.Fatalf("%s %v: %s", mutation, input, r.Body)
		}
		return made
	}
	switch mutation {
	case "updateDefaultValueDefinition":
		return create("createDefaultValueDefinition", "defaultValueDefinition", map[string]any{"givenId": name, "name": "N", "description": "D",
			"schema": map[string]any{"json": json.RawMessage(`{"id":"a","label":"A","type":"string","description":"d"}`)}})
	case "updateModuleDefinition":
		return create("createModuleDefinition", "moduleDefinition", map[string]any{"name": "N", "type": name, "description": "D", "status": "ACTIVE"})
	case "updateProject":
		return create("createProject", "project", map[string]any{"name": "N", "slug": name})
	case "updateEnvironment":
		return create("createEnvironment", "environment", map[string]any{"projectId": u.p.Project.ID, "name": "N", "slug": name})
	case "updateModuleInstance":
		id = create("createModuleInstance", "moduleInstance", map[string]any{"environmentId": u.p.Environment.ID, "moduleDefinitionId": u.p.Definition.ID, "name": name})
		u.update(mutation, updateCase{object: "moduleInstance", fields: "id"}, map[string]any{"id": id, "ownInputs": []string{"image"}, "onFailure": "ROLL_BACK"})
		return id
	case "updateRule":
		return create("createRule", "rule", map[string]any{"name": name, "operations": []string{"PROMOTE", "DESTROY"}, "overridable": false,
			"demand": map[string]any{"approvals": map[string]any{"count": 1, "role": "DEVELOPER"}}})
	}
	u.t.Fatalf("nothing makes a record for %s", mutation)
	return ""
}
