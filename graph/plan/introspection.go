package plan

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2/ast"
)

// introspected has the object types by which a schema tells of itself. The specification has them, the same for every
// schema, so that their fields are written here and not generated.
//
// The library's model of a schema has an empty list or false if the specification has null, has deprecated inputs
// and arguments that nobody asked for, and leaves out the default reason of @deprecated. That is put right here.
type introspected struct {
	schema, typ, field, input, value, directive *Object
}

// withIntrospection returns the query type of a schema with the fields by which the schema tells of itself.
func withIntrospection(query *Object, schema *ast.Schema) *Object {
	i := introspected{
		schema: named("__Schema"), typ: named("__Type"), field: named("__Field"), input: named("__InputValue"),
		value: named("__EnumValue"), directive: named("__Directive"),
	}
	i.schema.add(i.ofSchema())
	i.typ.add(i.ofType())
	i.field.add(i.ofField())
	i.input.add(i.ofInput())
	i.value.add(i.ofValue())
	i.directive.add(i.ofDirective())
	own := *query
	own.Fields = maps.Clone(query.Fields)
	own.add(i.ofQuery(schema))
	return &own
}

func named(name string) *Object {
	return &Object{Name: name, Satisfies: []string{name}, Fields: map[string]*Field{}}
}

// add adds fields to those of an object type.
func (o *Object) add(fields map[string]*Field) {
	for name, f := range fields {
		f.Object = o.Name
		o.Fields[name] = f
	}
}

func (i introspected) ofQuery(schema *ast.Schema) map[string]*Field {
	return map[string]*Field{
		"__schema": {Write: func(w *Writer, n *Node, _ any) bool {
			if !w.introspects() {
				return false
			}
			v := introspection.WrapSchema(schema)
			return w.Resolved(v) && w.Object(n, i.schema, v)
		}},
		"__type": {Write: func(w *Writer, n *Node, _ any) bool {
			arguments, ok := w.Arguments(n, typeArguments)
			if !ok || !w.introspects() {
				return false
			}
			v := introspection.WrapTypeFromDef(schema, schema.Types[arguments.Args["name"].(string)])
			return w.Resolved(v) && v != nil && w.Object(n, i.typ, v)
		}},
	}
}

func typeArguments(_ context.Context, raw map[string]any) (map[string]any, error) {
	name, err := graphql.UnmarshalString(raw["name"])
	return map[string]any{"name": name}, err
}

// introspects reports whether a field is to be resolved that the schema tells of itself by.
func (w *Writer) introspects() bool {
	switch {
	case !w.Begin():
		return false
	case w.Operation.DisableIntrospection:
		return w.Fail(errors.New("introspection disabled"))
	default:
		return true
	}
}

func (i introspected) ofSchema() map[string]*Field {
	type of = *introspection.Schema
	return map[string]*Field{
		"description":      optional(of.Description),
		"types":            required(list(i.typ, all(of.Types))),
		"queryType":        required(object(i.typ, of.QueryType)),
		"mutationType":     object(i.typ, of.MutationType),
		"subscriptionType": object(i.typ, of.SubscriptionType),
		"directives":       required(list(i.directive, all(of.Directives))),
	}
}

func (i introspected) ofType() map[string]*Field {
	type of = *introspection.Type
	return map[string]*Field{
		"kind":           text(of.Kind),
		"name":           optional(of.Name),
		"description":    optional(of.Description),
		"specifiedByURL": optional(of.SpecifiedByURL),
		"fields":         list(i.field, ofKinds(of.Fields, ast.Object, ast.Interface)),
		"interfaces":     list(i.typ, ofKinds(all(of.Interfaces), ast.Object, ast.Interface)),
		"possibleTypes":  list(i.typ, ofKinds(all(of.PossibleTypes), ast.Interface, ast.Union)),
		"enumValues":     list(i.value, ofKinds(of.EnumValues, ast.Enum)),
		"inputFields":    list(i.input, ofKinds(asked(of.InputFields), ast.InputObject)),
		"ofType":         object(i.typ, of.OfType),
		"isOneOf": {Write: func(w *Writer, _ *Node, parent any) bool {
			t := parent.(of)
			return isOf(t, ast.InputObject) && w.Appended(AppendBoolean(w.Bytes(), t.IsOneOf()), false)
		}},
	}
}

func (i introspected) ofField() map[string]*Field {
	type of = *introspection.Field
	return map[string]*Field{
		"name":              text(func(f of) string { return f.Name }),
		"description":       optional(of.Description),
		"args":              required(list(i.input, asked(func(f of) []introspection.InputValue { return f.Args }))),
		"type":              required(object(i.typ, func(f of) *introspection.Type { return f.Type })),
		"isDeprecated":      flag(of.IsDeprecated),
		"deprecationReason": optional(reason[of]),
	}
}

func (i introspected) ofInput() map[string]*Field {
	type of = *introspection.InputValue
	return map[string]*Field{
		"name":              text(func(v of) string { return v.Name }),
		"description":       optional(of.Description),
		"type":              required(object(i.typ, func(v of) *introspection.Type { return v.Type })),
		"defaultValue":      optional(func(v of) *string { return v.DefaultValue }),
		"isDeprecated":      flag(of.IsDeprecated),
		"deprecationReason": optional(reason[of]),
	}
}

func (introspected) ofValue() map[string]*Field {
	type of = *introspection.EnumValue
	return map[string]*Field{
		"name":              text(func(v of) string { return v.Name }),
		"description":       optional(of.Description),
		"isDeprecated":      flag(of.IsDeprecated),
		"deprecationReason": optional(reason[of]),
	}
}

func (i introspected) ofDirective() map[string]*Field {
	type of = *introspection.Directive
	return map[string]*Field{
		"name":         text(func(d of) string { return d.Name }),
		"description":  optional(of.Description),
		"isRepeatable": flag(func(d of) bool { return d.IsRepeatable }),
		"locations": {NonNull: true, Write: func(w *Writer, n *Node, parent any) bool {
			return Scalars(w, n, parent.(of).Locations, true, writeText)
		}},
		"args": required(list(i.input, asked(func(d of) []introspection.InputValue { return d.Args }))),
	}
}

// required returns a field whose value must not be null.
func required(f *Field) *Field {
	f.NonNull = true
	return f
}

// text returns a field whose value is a text, or an enum.
func text[P any](value func(P) string) *Field {
	return required(&Field{Write: func(w *Writer, n *Node, parent any) bool { return writeText(w, n, value(parent.(P))) }})
}

// optional returns a field whose value is a text or null.
func optional[P any](value func(P) *string) *Field {
	return &Field{Write: func(w *Writer, n *Node, parent any) bool {
		v := value(parent.(P))
		return v != nil && writeText(w, n, *v)
	}}
}

func writeText(w *Writer, _ *Node, v string) bool {
	w.makeRoom(len(v))
	return w.Appended(AppendString(w.Bytes(), v), false)
}

// flag returns a field whose value is true or false.
func flag[P any](value func(P) bool) *Field {
	return required(&Field{Write: func(w *Writer, _ *Node, parent any) bool {
		return w.Appended(AppendBoolean(w.Bytes(), value(parent.(P))), false)
	}})
}

// object returns a field whose value is an object, or null.
func object[P, V any](o *Object, value func(P) *V) *Field {
	return &Field{Write: func(w *Writer, n *Node, parent any) bool {
		v := value(parent.(P))
		return v != nil && w.Object(n, o, v)
	}}
}

// lister has a list of an object, with what is deprecated or without. It is nil if the value is null.
type lister[P, V any] func(of P, deprecated bool) []V

// list returns a field whose value is a list of objects, or null.
func list[P, V any](o *Object, value lister[P, V]) *Field {
	item := func(w *Writer, n *Node, v V) bool { return w.Object(n, o, &v) }
	return &Field{Write: func(w *Writer, n *Node, parent any) bool {
		var args map[string]any
		if len(n.Collected.Arguments) > 0 {
			args = n.Collected.ArgumentMap(w.Operation.Variables)
		}
		v := value(parent.(P), args["includeDeprecated"] == true)
		return v != nil && List(w, n, v, true, item)
	}}
}

// all returns the lister of a list of which nothing can be deprecated.
func all[P, V any](value func(P) []V) lister[P, V] {
	return func(of P, _ bool) []V { return value(of) }
}

// asked returns the lister of inputs, which the library never leaves out.
func asked[P any](value func(P) []introspection.InputValue) lister[P, introspection.InputValue] {
	return func(of P, deprecated bool) []introspection.InputValue {
		inputs := value(of)
		if deprecated {
			return inputs
		}
		isOld := func(v introspection.InputValue) bool { return v.IsDeprecated() }
		return slices.DeleteFunc(slices.Clone(inputs), isOld)
	}
}

// ofKinds returns a lister of types of some kinds. For others the list is null.
func ofKinds[V any](
	value lister[*introspection.Type, V], kinds ...ast.DefinitionKind,
) lister[*introspection.Type, V] {
	return func(t *introspection.Type, deprecated bool) []V {
		if !isOf(t, kinds...) {
			return nil
		}
		return value(t, deprecated)
	}
}

func isOf(t *introspection.Type, kinds ...ast.DefinitionKind) bool {
	return slices.Contains(kinds, ast.DefinitionKind(t.Kind()))
}

// reason returns why something is deprecated, nil if it is not.
func reason[P interface {
	IsDeprecated() bool
	DeprecationReason() *string
}](of P) *string {
	given := of.DeprecationReason()
	if given == nil && of.IsDeprecated() {
		return new("No longer supported")
	}
	return given
}
