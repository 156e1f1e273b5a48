package gqlhttp

import (
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

// part counts what is selected of a part of the schema, and ends where it is too much.
func (t *telling) part(set ast.SelectionSet, part any) {
	for _, selection := range set {
		if t.left--; t.left < 0 {
			return
		}
		switch node := selection.(type) {
		case *ast.Field:
			if len(node.SelectionSet) > 0 {
				for _, below := range t.parts(part, node.Name) {
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
