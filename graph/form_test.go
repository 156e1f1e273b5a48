package graph_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// place is a field, an argument or an input of the schema: where it is, and its type.
type place struct {
	name string
	typ  *ast.Type
	path string
	// of is the type that has the field, and field the field itself, nil for an input. An argument has both.
	of       *ast.Definition
	field    *ast.FieldDefinition
	argument *ast.ArgumentDefinition
}

// places are all that the published schema has.
func places() (all []place) {
	for _, def := range schema.Types {
		if def.BuiltIn {
			continue
		}
		for _, f := range def.Fields {
			if strings.HasPrefix(f.Name, "__") {
				continue
			}
			p := place{name: f.Name, typ: f.Type, path: def.Name + "." + f.Name, of: def, field: f}
			if def.Kind == ast.InputObject {
				p.field = nil
			}
			all = append(all, p)
			for _, a := range f.Arguments {
				all = append(all, place{a.Name, a.Type, p.path + "." + a.Name, def, f, a})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.path, b.path) })
	return all
}

// isRecord reports whether a type is that of records, which have an id of their own.
func isRecord(name string) bool {
	def := schema.Types[name]
	return def != nil && slices.Contains(def.Interfaces, "Node")
}

// isPage reports whether a type is a page of a list.
func isPage(name string) bool { return strings.HasSuffix(name, "Connection") }

// takes reports whether a field takes an argument.
func takes(f *ast.FieldDefinition, name string) bool { return f.Arguments.ForName(name) != nil }

// forms are how the schema is written, and what breaks each form as yet: one by one these are mended, and none may come.
var forms = []struct {
	form   string
	breaks func(place) bool
	known  []string
}{
	{
		"what has the type ID is called id or ids, or ends in Id or Ids",
		func(p place) bool {
			isNamed := p.name == "id" || p.name == "ids" || strings.HasSuffix(p.name, "Id") || strings.HasSuffix(p.name, "Ids")
			return p.typ.Name() == "ID" && !isNamed
		},
		nil,
	},
	{
		"a list of records is in pages",
		func(p place) bool {
			isList := p.field != nil && p.argument == nil && p.typ.Elem != nil && isRecord(p.typ.Name())
			return isList && !isPage(p.of.Name)
		},
		[]string{
			"LiveInDemand.environments",                                                      // a rule names at most 5
			"TokenScope.environments", "TokenScope.moduleDefinitions", "TokenScope.projects", // at most 100 of each
			"Requirement.approvals", // as many as principals have approved
			// At most 20 of each are examples of what an update affects.
			"UpdateDefaultValueDefinitionPayload.affectedInstances", "UpdateDefaultValueDefinitionPayload.affectedVersions",
		},
	},
	{
		"what is in pages takes first, after, last and before",
		func(p place) bool {
			if p.field == nil || p.argument != nil || !isPage(p.typ.Name()) {
				return false
			}
			return !takes(p.field, "first") || !takes(p.field, "after") || !takes(p.field, "last") || !takes(p.field, "before")
		},
		nil,
	},
	{
		"conditions on a list are in its filter",
		func(p place) bool {
			if p.argument == nil || !isPage(p.field.Type.Name()) {
				return false
			}
			return !slices.Contains([]string{"first", "after", "last", "before", "filter", "orderBy"}, p.name)
		},
		[]string{"Query.dynamicValues.params", "Query.dynamicValues.source"}, // they say what is listed
	},
	{
		"who did something is an actor",
		func(p place) bool {
			isName := p.typ.Name() == "String" && (strings.HasSuffix(p.name, "By") || p.name == "runner")
			return isName && p.argument == nil && p.of.Kind == ast.Object
		},
		[]string{
			"EcsDeploymentData.triggeredBy", // a text that REST keeps as it was given
		},
	},
	{
		"a slug is a GivenId, read and written",
		func(p place) bool { return p.name == "slug" && p.typ.Name() != "GivenId" },
		[]string{"Query.organization.slug", "Query.project.slug"}, // what is looked for may be any text
	},
	{
		"what is judged may be null, with an error in its place",
		func(p place) bool {
			return p.field != nil && p.argument == nil && strings.HasSuffix(p.name, "Eligibility") && p.typ.NonNull
		},
		nil,
	},
	{
		"why something is done is its reason",
		func(p place) bool { return p.name == "comment" },
		nil,
	},
	{
		"a record has an id, and when it was created",
		func(p place) bool {
			isFirst := p.field != nil && p.argument == nil && p.of.Fields[0] == p.field
			return isFirst && isRecord(p.of.Name) && (p.of.Fields.ForName("id") == nil || p.of.Fields.ForName("createdAt") == nil)
		},
		nil,
	},
}

// TestTheSchemaIsWrittenInItsForms has a list of what breaks each form as yet. What is mended leaves the list.
func TestTheSchemaIsWrittenInItsForms(t *testing.T) {
	t.Parallel()
	all := places()
	for _, f := range forms {
		var found []string
		for _, p := range all {
			if f.breaks(p) {
				found = append(found, p.path)
			}
		}
		for _, path := range found {
			if !slices.Contains(f.known, path) {
				t.Errorf("%s: %s", f.form, path)
			}
		}
		for _, path := range f.known {
			if !slices.Contains(found, path) {
				t.Errorf("%s: %s does not break that any more; take it off the list", f.form, path)
			}
		}
	}
}
