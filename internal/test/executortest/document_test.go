package executortest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// written is an operation with its variables.
type written struct {
	text      string
	variables map[string]any
}

func (d written) body() string {
	body, err := json.Marshal(map[string]any{"query": d.text, "variables": d.variables})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// author writes documents at random, over all of a schema: fragments, directives, aliases, arguments and variables. Not all
// of them are valid.
type author struct {
	*rand.Rand
	schema *ast.Schema
	// values, if it is not nil, has values for arguments of types of ids, by the names of fields and arguments.
	values func(field, argument string) (any, bool)

	// room is how many fields there may still be.
	room         int
	aliases      int
	fragments    []string
	declarations []string
	variables    map[string]any
}

// write writes an operation of a kind.
func (a *author) write(kind ast.Operation) written {
	a.room, a.aliases, a.fragments, a.declarations, a.variables = 15+a.IntN(90), 0, nil, nil, map[string]any{}
	root := map[ast.Operation]*ast.Definition{ast.Query: a.schema.Query, ast.Mutation: a.schema.Mutation, ast.Subscription: a.schema.Subscription}[kind]
	var body strings.Builder
	fields := 1
	if kind != ast.Subscription {
		fields += a.IntN(4)
	}
	for range fields {
		f, depth := root.Fields[a.IntN(len(root.Fields))], 0
		if kind == ast.Query && a.chance(.1) {
			f = root.Fields.ForName([]string{"__schema", "__type"}[a.IntN(2)])
		}
		if strings.HasPrefix(f.Name, "__") {
			depth = deepest - 4 // deeper ones are refused
		}
		a.field(&body, root, f, depth)
	}
	if body.Len() == 0 || a.chance(.1) && kind != ast.Subscription {
		body.WriteString(" __typename")
	}
	head := string(kind)
	if len(a.declarations) > 0 {
		head += " (" + strings.Join(a.declarations, ", ") + ")"
	}
	return written{head + " {" + body.String() + " }\n" + strings.Join(a.fragments, "\n"), a.variables}
}

func (a *author) chance(of float64) bool { return a.Float64() < of }

const deepest = 9

func (a *author) field(to *strings.Builder, parent *ast.Definition, f *ast.FieldDefinition, depth int) {
	of := a.schema.Types[f.Type.Name()]
	if of.IsCompositeType() && (depth > deepest || a.room <= 0) {
		return
	}
	a.room--
	var arguments []string
	for _, argument := range f.Arguments {
		if argument.Type.NonNull && argument.DefaultValue == nil || a.chance(.35) {
			arguments = append(arguments, argument.Name+": "+a.value(f.Name, argument.Name, argument.Type, depth))
		}
	}
	isShared := len(a.schema.GetImplements(parent)) > 0 // fields of its neighbours may have the name
	text := f.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	if len(arguments) > 0 || a.chance(.1) || isShared && f.Name != "id" && a.chance(.9) {
		a.aliases++
		text = fmt.Sprintf("a%d: %s", a.aliases, text)
	}
	text += a.directives(depth)
	if of.IsCompositeType() {
		text += a.selection(of, depth+1)
	}
	to.WriteString(" " + text)
	if a.chance(.04) {
		to.WriteString(" " + text) // once more, to be merged
	}
}

// selection writes a selection of a type.
func (a *author) selection(of *ast.Definition, depth int) string {
	var b strings.Builder
	often := .2 + a.Float64()*.6
	for _, f := range of.Fields {
		if a.chance(often) {
			a.field(&b, of, f, depth)
		}
	}
	possible := a.schema.GetPossibleTypes(of)
	switch {
	case of.IsAbstractType():
		for _, object := range possible {
			if a.chance(.6) {
				a.fragment(&b, object, depth)
			}
		}
	case a.chance(.25):
		on := of
		for _, implemented := range a.schema.GetImplements(of) {
			if a.chance(.5) {
				on = implemented
			}
		}
		a.fragment(&b, on, depth)
	}
	if b.Len() == 0 || a.chance(.2) {
		b.WriteString(" __typename")
	}
	return " {" + b.String() + " }"
}

// fragment writes one in its place or with a name.
func (a *author) fragment(to *strings.Builder, on *ast.Definition, depth int) {
	if depth > deepest || a.room <= 0 {
		return
	}
	body := a.selection(on, depth+1)
	if a.chance(.5) {
		fmt.Fprintf(to, " ... on %s%s%s", on.Name, a.directives(depth), body)
		return
	}
	name := fmt.Sprintf("F%d", len(a.fragments))
	a.fragments = append(a.fragments, "fragment "+name+" on "+on.Name+body)
	fmt.Fprintf(to, " ...%s%s", name, a.directives(depth))
	if a.chance(.2) {
		fmt.Fprintf(to, " ...%s", name)
	}
}

func (a *author) directives(depth int) string {
	if depth == 0 || !a.chance(.1) {
		return ""
	}
	condition := fmt.Sprint(a.chance(.5))
	if a.chance(.6) {
		condition = a.variable("Boolean!", a.chance(.5))
	}
	return " @" + []string{"skip", "include"}[a.IntN(2)] + "(if: " + condition + ")"
}

func (a *author) variable(typ string, value any) string {
	name := fmt.Sprintf("v%d", len(a.declarations))
	a.declarations = append(a.declarations, "$"+name+": "+typ)
	a.variables[name] = value
	return "$" + name
}

// value writes the value of an argument, as a literal or a variable.
func (a *author) value(field, argument string, typ *ast.Type, depth int) string {
	value := a.make(field, argument, typ, depth)
	if a.chance(.4) {
		return a.variable(typ.String(), plain(value))
	}
	return literal(value)
}

// types returns the names of all types, in order.
func (a *author) types() []string { return slices.Sorted(maps.Keys(a.schema.Types)) }

// enum is a value that is written without quotes.
type enum string

// make returns a value of an input type.
func (a *author) make(field, argument string, typ *ast.Type, depth int) any {
	if typ.Elem != nil {
		list := make([]any, 1+a.IntN(3))
		for i := range list {
			list[i] = a.make(field, argument, typ.Elem, depth+1)
		}
		return list
	}
	if !typ.NonNull && a.chance(.05) {
		return nil
	}
	if field == "__type" && a.chance(.9) {
		return a.types()[a.IntN(len(a.types()))]
	}
	if a.values != nil {
		if value, ok := a.values(field, argument); ok {
			return value
		}
	}
	switch of := a.schema.Types[typ.NamedType]; {
	case of.Kind == ast.Enum:
		return enum(of.EnumValues[a.IntN(len(of.EnumValues))].Name)
	case of.Kind == ast.InputObject:
		return a.object(field, of, depth)
	case of.Name == "Int":
		return 1 + a.IntN(4)
	case of.Name == "Float":
		return 1.5
	case of.Name == "Boolean":
		return a.chance(.5)
	case of.Name == "UtcDateTime":
		return "2030-01-02T03:04:05.5Z"
	case of.Name == "GivenId":
		return "given-id"
	case of.Name == "JSON":
		return []any{map[string]any{"a": 1, "b": []any{"x", nil}}, "text", true, 7}[a.IntN(4)]
	default:
		return []string{"a", `quoted " \ text`, "line\nand tab\t", "ünï"}[a.IntN(4)]
	}
}

// object returns a value of an input object type: of one that takes exactly one member, that one.
func (a *author) object(field string, of *ast.Definition, depth int) any {
	object := map[string]any{}
	if of.Directives.ForName("oneOf") != nil {
		f := of.Fields[a.IntN(len(of.Fields))]
		typ := *f.Type
		typ.NonNull = true
		object[f.Name] = a.make(field, f.Name, &typ, depth+1)
		return object
	}
	for _, f := range of.Fields {
		if f.Type.NonNull && f.DefaultValue == nil || depth < 3 && a.chance(.3) {
			object[f.Name] = a.make(field, f.Name, f.Type, depth+1)
		}
	}
	return object
}

// plain returns a value as JSON has it.
func plain(v any) any {
	switch v := v.(type) {
	case enum:
		return string(v)
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, member := range v {
			object[name] = plain(member)
		}
		return object
	}
	return v
}

// literal writes a value as a document has it.
func literal(v any) string {
	var parts []string
	switch v := v.(type) {
	case enum:
		return string(v)
	case []any:
		for _, item := range v {
			parts = append(parts, literal(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for name, member := range v {
			parts = append(parts, name+": "+literal(member))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	text, _ := json.Marshal(v)
	return string(text)
}
