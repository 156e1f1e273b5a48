package document

import (
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/strictjson"
)

// Deprecation is a member of the schema that is deprecated: a field, an argument, a field of an input, or a value of an
// enum.
type Deprecation struct {
	// Field is where the member is, as a schema coordinate: Type.field, Type.field(argument:), Input.field or Enum.VALUE.
	Field string `json:"field"`
	// Reason says what to use instead, and when the member goes.
	Reason string `json:"reason"`
}

// deprecations are the deprecated members of a schema, by their definitions: *ast.FieldDefinition,
// *ast.ArgumentDefinition or *ast.EnumValueDefinition.
type deprecations map[any]Deprecation

// deprecationsOf returns those of a schema.
func deprecationsOf(schema *ast.Schema) deprecations {
	all := deprecations{}
	add := func(definition any, directives ast.DirectiveList, coordinate string) {
		if d := directives.ForName("deprecated"); d != nil {
			reason, _ := d.ArgumentMap(nil)["reason"].(string)
			all[definition] = Deprecation{coordinate, reason}
		}
	}

	for _, def := range schema.Types {
		for _, f := range def.Fields {
			add(f, f.Directives, def.Name+"."+f.Name)
			for _, a := range f.Arguments {
				add(a, a.Directives, def.Name+"."+f.Name+"("+a.Name+":)")
			}
		}
		for _, v := range def.EnumValues {
			add(v, v.Directives, def.Name+"."+v.Name)
		}
	}
	return all
}

// Deprecated returns what is deprecated of what an operation asks for and what its variables have, each once, in the
// order of the coordinates. raw has a *strictjson.Node for each variable, which were coerced without an error.
func (d *Documents) Deprecated(doc *Document, op *ast.OperationDefinition, raw map[string]any) []Deprecation {
	if len(d.deprecations) == 0 {
		return nil
	}

	used := deprecatedUses{deprecations: d.deprecations, schema: d.schema, found: map[Deprecation]bool{}}
	for _, known := range doc.deprecated[op] {
		used.found[known] = true
	}
	for _, def := range op.VariableDefinitions {
		if given, ok := raw[def.Variable].(*strictjson.Node); ok {
			used.variable(def.Type, given)
		}
	}
	return used.sorted()
}

// deprecated returns what is deprecated of what each operation of a valid document asks for.
func (d *Documents) deprecated(doc *ast.QueryDocument) map[*ast.OperationDefinition][]Deprecation {
	if len(d.deprecations) == 0 {
		return nil
	}

	of := make(map[*ast.OperationDefinition][]Deprecation, len(doc.Operations))
	for _, op := range doc.Operations {
		used := deprecatedUses{
			deprecations: d.deprecations, schema: d.schema, found: map[Deprecation]bool{}, seen: map[string]bool{},
		}
		for _, def := range op.VariableDefinitions {
			used.literal(def.DefaultValue)
		}
		used.selections(op.SelectionSet)
		of[op] = used.sorted()
	}
	return of
}

// deprecatedUses finds what one operation uses.
type deprecatedUses struct {
	deprecations
	schema *ast.Schema
	found  map[Deprecation]bool
	// seen are the fragments that the walk has been in.
	seen map[string]bool
}

// use notes a definition, which may be nil, if it is deprecated.
func (u *deprecatedUses) use(definition any) {
	if d, ok := u.deprecations[definition]; ok {
		u.found[d] = true
	}
}

func (u *deprecatedUses) sorted() []Deprecation {
	return slices.SortedFunc(maps.Keys(u.found), func(a, b Deprecation) int { return strings.Compare(a.Field, b.Field) })
}

func (u *deprecatedUses) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch node := selection.(type) {
		case *ast.Field:
			u.field(node)
		case *ast.InlineFragment:
			u.selections(node.SelectionSet)
		case *ast.FragmentSpread:
			if !u.seen[node.Name] {
				u.seen[node.Name] = true
				u.selections(node.Definition.SelectionSet)
			}
		}
	}
}

func (u *deprecatedUses) field(f *ast.Field) {
	u.use(f.Definition)
	for _, a := range f.Arguments {
		u.use(f.Definition.Arguments.ForName(a.Name))
		u.literal(a.Value)
	}
	u.selections(f.SelectionSet)
}

// literal looks at a value in the document, nil for none. The values that variables have are looked at by variable.
func (u *deprecatedUses) literal(v *ast.Value) {
	if v == nil {
		return
	}
	if v.Kind == ast.EnumValue && v.Definition != nil {
		u.use(v.Definition.EnumValues.ForName(v.Raw))
	}
	for _, child := range v.Children {
		if v.Kind == ast.ObjectValue && v.Definition != nil {
			u.use(v.Definition.Fields.ForName(child.Name))
		}
		u.literal(child.Value)
	}
}

// variable looks at a value of a type.
func (u *deprecatedUses) variable(t *ast.Type, v *strictjson.Node) {
	def := u.schema.Types[t.Name()]
	switch {
	case v.Kind == strictjson.Array && t.Elem != nil:
		for _, item := range v.Items {
			u.variable(t.Elem, item)
		}
	case v.Kind == strictjson.Object && def.Kind == ast.InputObject:
		for i, name := range v.Keys {
			if f := def.Fields.ForName(name); f != nil { // it may be a __typename
				u.use(f)
				u.variable(f.Type, v.Items[i])
			}
		}
	case v.Kind == strictjson.String && def.Kind == ast.Enum:
		u.use(def.EnumValues.ForName(v.Text))
	}
}
