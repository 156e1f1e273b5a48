package document_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/graph/scalar"
	"slipway/internal/edge/gqlhttp/document"
)

// sample is a literal and the scalars that take it. Names of enum values are taken by their enums.
type sample struct {
	text    string
	kind    ast.ValueKind
	scalars string
	// item is what a list has, or the field of an object.
	item *sample
}

func listOf(item sample) sample {
	return sample{text: "[" + item.text + "]", kind: ast.ListValue, scalars: "JSON", item: &item}
}

func objectOf(field string, item sample) sample {
	return sample{text: "{" + field + ": " + item.text + "}", kind: ast.ObjectValue, scalars: "JSON", item: &item}
}

func samples() []sample {
	plain := []sample{
		{text: "7", kind: ast.IntValue, scalars: "Int Float ID JSON"},
		{text: "-2147483648", kind: ast.IntValue, scalars: "Int Float ID JSON"},
		{text: "2147483648", kind: ast.IntValue, scalars: "Float ID JSON"},
		{text: "9223372036854775808", kind: ast.IntValue, scalars: "Float ID"},
		{text: "-123456789012345678901234567890", kind: ast.IntValue, scalars: "Float ID"},
		{text: "1.0", kind: ast.FloatValue, scalars: "Float JSON"},
		{text: "1e400", kind: ast.FloatValue, scalars: ""},
		{text: `"text"`, kind: ast.StringValue, scalars: "String ID GivenId JSON"},
		{text: `"5"`, kind: ast.StringValue, scalars: "String ID GivenId JSON"},
		{text: `"2026-03-01T09:30:00Z"`, kind: ast.StringValue, scalars: "String ID UtcDateTime JSON"},
		{text: `"""text"""`, kind: ast.BlockValue, scalars: "String ID GivenId JSON"},
		{text: "true", kind: ast.BooleanValue, scalars: "Boolean JSON"},
		{text: "null", kind: ast.NullValue},
		{text: "ACTIVE", kind: ast.EnumValue, scalars: "JSON"},
		{text: "NAME", kind: ast.EnumValue, scalars: "JSON"},
		{text: "[]", kind: ast.ListValue, scalars: "JSON"},
		{text: "{}", kind: ast.ObjectValue, scalars: "JSON"},
	}
	all := slices.Clone(plain)
	for _, s := range plain {
		all = append(all, listOf(s))
	}
	for _, s := range []sample{plain[0], plain[3], plain[len(plain)-1]} {
		all = append(all, objectOf("unknown", s), listOf(objectOf("unknown", s)), listOf(listOf(s)))
	}
	return all
}

// fits reports whether the specification lets a literal stand where the type is expected.
func (s sample) fits(schema *ast.Schema, t *ast.Type) bool {
	switch def := schema.Types[t.Name()]; {
	case s.kind == ast.NullValue:
		return !t.NonNull
	case t.Elem != nil && s.kind == ast.ListValue:
		return s.item == nil || s.item.fits(schema, t.Elem)
	case t.Elem != nil:
		return s.fits(schema, t.Elem) // a list of one
	case def.Kind == ast.Enum:
		return s.kind == ast.EnumValue && def.EnumValues.ForName(s.text) != nil
	case def.Kind == ast.InputObject:
		required := func(f *ast.FieldDefinition) bool { return f.Type.NonNull && f.DefaultValue == nil }
		return s.text == "{}" && def.Directives.ForName("oneOf") == nil && !slices.ContainsFunc(def.Fields, required)
	case def.Name == "JSON" && s.item != nil:
		return s.item.fits(schema, ast.NamedType("JSON", nil))
	default:
		return slices.Contains(strings.Fields(s.scalars), def.Name)
	}
}

// place is where a literal of a type can stand; the format makes a document with the literal on line 2.
type place struct {
	format string
	typ    *ast.Type
}

// places are every argument of every field and directive, each field of each input object, and a
// variable's default of each of their types.
func places(schema *ast.Schema) (all []place) {
	types := map[string]*ast.Type{}
	add := func(t *ast.Type, format string, args ...any) {
		all = append(all, place{fmt.Sprintf(format, args...), t})
		types[t.String()] = t
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Types)) {
		def := schema.Types[name]
		for _, field := range def.Fields {
			if def.Kind == ast.InputObject {
				t := *field.Type
				t.NonNull = t.NonNull || def.Directives.ForName("oneOf") != nil
				add(&t, "query($v: %s = {%s:\n%%s\n}) { __typename }", name, field.Name)
			}
			for _, argument := range field.Arguments {
				add(argument.Type, "{ __typename } fragment f on %s { %s(%s:\n%%s\n) }", name, field.Name, argument.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Directives)) {
		for _, argument := range schema.Directives[name].Arguments {
			for _, format := range []string{
				"{ __typename @%s(%s:\n%%s\n) }", "{ ... @%s(%s:\n%%s\n) { __typename } }", "query q @%s(%s:\n%%s\n) { __typename }",
				"{ ...f @%s(%s:\n%%s\n) } fragment f on Query { __typename }", "query($v: Int @%s(%s:\n%%s\n)) { __typename }",
			} {
				add(argument.Type, format, name, argument.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		add(types[name], "query($v: %s =\n%%s\n) { __typename }", name)
	}
	return all
}

// refuses reports whether the errors have one of a wrong literal on line 2.
func refuses(err error) bool {
	var errs gqlerror.List
	errors.As(err, &errs)
	return slices.ContainsFunc(errs, func(e *gqlerror.Error) bool {
		return (e.Rule == "ValuesOfCorrectType" || e.Rule == "CustomScalars") && slices.ContainsFunc(e.Locations, func(at gqlerror.Location) bool { return at.Line >= 2 })
	})
}

func TestALiteralIsTakenWhereItsTypeIsExpectedAndNowhereElse(t *testing.T) {
	t.Parallel()
	schema := document.StandardSchema(served(t))
	check := checker(schema, document.Config{Introspection: true, Scalars: scalar.Checks()})
	tried, taken := 0, 0
	for _, p := range places(schema) {
		for _, s := range samples() {
			want := s.fits(schema, p.typ)
			if err := check(fmt.Sprintf(p.format, s.text)); refuses(err) == want {
				t.Errorf("%s where %s is expected: taken is %t\n%s: %v", s.text, p.typ, !want, fmt.Sprintf(p.format, s.text), err)
			}
			if tried++; want {
				taken++
			}
		}
	}
	if t.Logf("%d literals, %d taken", tried, taken); tried < 15_000 || taken < 2_000 {
		t.Error("there were fewer literals than the schema has places for")
	}
}
