package document

import (
	"maps"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkIntrospection returns how many values of the schema each operation of a valid document asks for, and refuses one
// that asks for more than it may.
func (l Limits) checkIntrospection(
	schema *ast.Schema, doc *ast.QueryDocument,
) (map[*ast.OperationDefinition]int, *gqlerror.Error) {
	sizes := map[*ast.OperationDefinition]int{}
	for _, op := range doc.Operations {
		s := introspectionSize{schema, l.Introspection}
		s.root(op.SelectionSet)
		if s.left < 0 {
			return nil, limit{"introspection", l.Introspection, "values of the schema"}.refuse(0, op.Position)
		}
		sizes[op] = l.Introspection - s.left
	}
	return sizes, nil
}

// StandardSchema returns a schema without what the parser adds to every one and the specification does not: @defer and
// scalars that nothing is of. An answer in one piece would lose what is deferred. The schema's texts are mended.
func StandardSchema(schema *ast.Schema) *ast.Schema {
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

var misprints = strings.NewReplacer(
	"`String`scalar", "`String` scalar",
	`(such as "4")`, "(such as `\"4\"`)",
	"(such as 4)", "(such as `4`)",
	"http://en.wikipedia.org", "https://en.wikipedia.org",
)

// usedIn returns the types that a field, an argument or an input of the schema is of, by their names.
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

// objectValues is as how many values an object counts, by the work that it is.
const objectValues = 2

// introspectionSize counts the values of the schema that an answer has. Of two fields that merge both count.
type introspectionSize struct {
	schema *ast.Schema
	left   int
}

func (s *introspectionSize) root(set ast.SelectionSet) {
	for _, selection := range set {
		switch node := selection.(type) {
		case *ast.Field:
			switch node.Name {
			case "__schema":
				s.part(node.SelectionSet, s.schema)
			case "__type":
				s.part(node.SelectionSet, s.named(node))
			}
		case *ast.InlineFragment:
			s.root(node.SelectionSet)
		case *ast.FragmentSpread:
			s.root(node.Definition.SelectionSet)
		}
	}
}

// named returns the type that __type asks for; where a variable names it, the one of which there is most.
func (s *introspectionSize) named(f *ast.Field) *ast.Definition {
	if name := f.Arguments.ForName("name"); name != nil && name.Value.Kind != ast.Variable {
		return s.schema.Types[name.Value.Raw]
	}
	largest := &ast.Definition{}
	for _, def := range s.schema.Types {
		if len(def.Fields)+len(def.EnumValues) > len(largest.Fields)+len(largest.EnumValues) {
			largest = def
		}
	}
	return largest
}

// part counts what is selected of a part of the schema, and the objects that it is in, and ends if it is too much.
func (s *introspectionSize) part(set ast.SelectionSet, part any) {
	for _, selection := range set {
		if s.left--; s.left < 0 {
			return
		}

		switch node := selection.(type) {
		case *ast.Field:
			if len(node.SelectionSet) > 0 {
				parts := s.parts(part, node.Name)
				s.left -= objectValues * len(parts)
				for _, below := range parts {
					s.part(node.SelectionSet, below)
				}
			}
		case *ast.InlineFragment:
			s.part(node.SelectionSet, part)
		case *ast.FragmentSpread:
			s.part(node.Definition.SelectionSet, part)
		}
	}
}

// parts returns what a field of introspection returns of a part of the schema.
func (s *introspectionSize) parts(part any, field string) (below []any) {
	switch p := part.(type) {
	case *ast.Schema:
		return s.whole(field)
	case *ast.Type:
		if p.NonNull || p.Elem != nil {
			return inside(p, field)
		}
		return s.parts(s.schema.Types[p.NamedType], field)
	case *ast.Definition:
		return s.ofType(p, field)
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

// inside returns the type in a list or in one that is not null.
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

func (s *introspectionSize) whole(field string) (below []any) {
	switch field {
	case "types":
		for _, def := range s.schema.Types {
			below = append(below, def)
		}
	case "directives":
		for _, def := range s.schema.Directives {
			below = append(below, def)
		}
	case "queryType":
		return []any{s.schema.Query}
	case "mutationType":
		return []any{s.schema.Mutation}
	case "subscriptionType":
		return []any{s.schema.Subscription}
	}
	return below
}

func (s *introspectionSize) ofType(def *ast.Definition, field string) (below []any) {
	switch {
	case def == nil:
		return nil
	case field == "enumValues":
		return list(def.EnumValues)
	case field == "possibleTypes" && def.IsAbstractType():
		return list(s.schema.GetPossibleTypes(def))
	case field == "fields" && def.Kind != ast.InputObject, field == "inputFields" && def.Kind == ast.InputObject:
		return list(def.Fields)
	case field == "interfaces":
		return list(s.schema.GetImplements(def))
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
