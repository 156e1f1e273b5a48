package gqlhttp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// tell returns how many values of the schema each operation of a valid document asks for, and refuses one
// that asks for more than may be told.
func (l Limits) tell(schema *ast.Schema, doc *ast.QueryDocument) (map[*ast.OperationDefinition]int, *gqlerror.Error) {
	told := map[*ast.OperationDefinition]int{}
	for _, op := range doc.Operations {
		t := telling{schema, l.Introspection}
		t.root(op.SelectionSet)
		if t.left < 0 {
			return nil, limit{"introspection", l.Introspection, "values of the schema"}.refuse(0, op.Position)
		}
		told[op] = l.Introspection - t.left
	}
	return told, nil
}

// Standard is a schema without what the parser adds to every one and the specification does not: @defer, for an
// answer in one piece would lose what is deferred, and scalars that nothing is of. Its texts are mended.
func Standard(schema *ast.Schema) *ast.Schema {
	own := *schema
	own.Directives = maps.Clone(schema.Directives)
	delete(own.Directives, "defer")
	own.Types = maps.Clone(schema.Types)
	used := usedIn(schema)
	for name, def := range schema.Types {
		switch {
		case !def.BuiltIn || def.Kind != ast.Scalar:
		case !used[name]:
			delete(own.Types, name)
		default:
			mended := *def
			mended.Description = misprints.Replace(def.Description)
			own.Types[name] = &mended
		}
	}
	return &own
}

var misprints = strings.NewReplacer("`String`scalar", "`String` scalar", `(such as "4")`, "(such as `\"4\"`)", "(such as 4)", "(such as `4`)")

// usedIn are the types that a field, an argument or an input of the schema is of, by their names.
func usedIn(schema *ast.Schema) map[string]bool {
	used := map[string]bool{}
	arguments := func(list ast.ArgumentDefinitionList) {
		for _, a := range list {
			used[a.Type.Name()] = true
		}
	}
	for _, def := range schema.Types {
		for _, f := range def.Fields {
			used[f.Type.Name()] = true
			arguments(f.Arguments)
		}
	}
	for _, d := range schema.Directives {
		arguments(d.Arguments)
	}
	return used
}

// having are the fields of a type that only types of some kinds have; the others have null.
var having = map[string][]string{
	"fields":        {"OBJECT", "INTERFACE"},
	"interfaces":    {"OBJECT", "INTERFACE"},
	"possibleTypes": {"INTERFACE", "UNION"},
	"enumValues":    {"ENUM"},
	"inputFields":   {"INPUT_OBJECT"},
	"isOneOf":       {"INPUT_OBJECT"},
}

// exact is what a field of introspection gives by the specification. The library has an empty list, or false,
// where there is null, tells deprecated inputs and arguments to those who did not ask for them, and knows no
// reason that was not written.
func exact(ctx context.Context, fc *graphql.FieldContext, result any) any {
	var of any
	if fc.Parent != nil {
		of = fc.Parent.Result
	}
	if t, ok := of.(*introspection.Type); ok && t != nil && having[fc.Field.Name] != nil && !slices.Contains(having[fc.Field.Name], t.Kind()) {
		return nil
	}
	if inputs, ok := result.([]introspection.InputValue); ok {
		if all, _ := fc.Field.ArgumentMap(graphql.GetOperationContext(ctx).Variables)["includeDeprecated"].(bool); !all {
			return slices.DeleteFunc(slices.Clone(inputs), func(v introspection.InputValue) bool { return v.IsDeprecated() })
		}
	}
	if d, ok := of.(interface{ IsDeprecated() bool }); ok && fc.Field.Name == "deprecationReason" && d.IsDeprecated() {
		if reason, _ := result.(*string); reason == nil {
			return new("No longer supported")
		}
	}
	return result
}

// objectValues is as how many values an object counts, by the work that it is.
const objectValues = 2

// telling counts the values of the schema that an answer has. Of two fields that merge both count.
type telling struct {
	schema *ast.Schema
	left   int
}

func (t *telling) root(set ast.SelectionSet) {
	for _, selection := range set {
		switch node := selection.(type) {
		case *ast.Field:
			switch node.Name {
			case "__schema":
				t.part(node.SelectionSet, t.schema)
			case "__type":
				t.part(node.SelectionSet, t.named(node))
			}
		case *ast.InlineFragment:
			t.root(node.SelectionSet)
		case *ast.FragmentSpread:
			t.root(node.Definition.SelectionSet)
		}
	}
}

// named is the type that __type asks for; where a variable names it, the one of which there is most.
func (t *telling) named(f *ast.Field) *ast.Definition {
	if name := f.Arguments.ForName("name"); name != nil && name.Value.Kind != ast.Variable {
		return t.schema.Types[name.Value.Raw]
	}
	largest := &ast.Definition{}
	for _, def := range t.schema.Types {
		if len(def.Fields)+len(def.EnumValues) > len(largest.Fields)+len(largest.EnumValues) {
			largest = def
		}
	}
	return largest
}

// part counts what is selected of a part of the schema, and the objects that it is in, and ends where it is too much.
func (t *telling) part(set ast.SelectionSet, part any) {
	for _, selection := range set {
		if t.left--; t.left < 0 {
			return
		}
		switch node := selection.(type) {
		case *ast.Field:
			if len(node.SelectionSet) > 0 {
				parts := t.parts(part, node.Name)
				t.left -= objectValues * len(parts)
				for _, below := range parts {
					t.part(node.SelectionSet, below)
				}
			}
		case *ast.InlineFragment:
			t.part(node.SelectionSet, part)
		case *ast.FragmentSpread:
			t.part(node.Definition.SelectionSet, part)
		}
	}
}

// parts are what a field of introspection gives of a part of the schema.
func (t *telling) parts(part any, field string) (below []any) {
	switch p := part.(type) {
	case *ast.Schema:
		return t.whole(field)
	case *ast.Type:
		if p.NonNull || p.Elem != nil {
			return inside(p, field)
		}
		return t.parts(t.schema.Types[p.NamedType], field)
	case *ast.Definition:
		return t.ofType(p, field)
	case *ast.FieldDefinition:
		if field == "type" {
			return []any{p.Type}
		}
		return list(p.Arguments)
	case *ast.DirectiveDefinition:
		return list(p.Arguments)
	case *ast.ArgumentDefinition:
		return []any{p.Type}
	}
	return nil
}

// inside is the type in a list or in one that is not null.
func inside(t *ast.Type, field string) []any {
	switch {
	case field != "ofType":
		return nil
	case t.NonNull:
		inner := *t
		inner.NonNull = false
		return []any{&inner}
	default:
		return []any{t.Elem}
	}
}

func (t *telling) whole(field string) (below []any) {
	switch field {
	case "types":
		for _, def := range t.schema.Types {
			below = append(below, def)
		}
	case "directives":
		for _, def := range t.schema.Directives {
			below = append(below, def)
		}
	case "queryType":
		return []any{t.schema.Query}
	case "mutationType":
		return []any{t.schema.Mutation}
	case "subscriptionType":
		return []any{t.schema.Subscription}
	}
	return below
}

func (t *telling) ofType(def *ast.Definition, field string) (below []any) {
	switch {
	case def == nil:
		return nil
	case field == "enumValues":
		return list(def.EnumValues)
	case field == "possibleTypes" && def.IsAbstractType():
		return list(t.schema.GetPossibleTypes(def))
	case field == "fields" && def.Kind != ast.InputObject, field == "inputFields" && def.Kind == ast.InputObject:
		return list(def.Fields)
	case field == "interfaces":
		return list(t.schema.GetImplements(def))
	}
	return nil
}

func list[T any](items []T) []any {
	all := make([]any, len(items))
	for i, item := range items {
		all[i] = item
	}
	return all
}
