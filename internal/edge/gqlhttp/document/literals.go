package document

import (
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"

	"slipway/internal/edge/gqlhttp/wire"
)

// literals is the rule that every literal has the type that is expected where it stands. It takes the
// place of the library's, which takes an empty object for any scalar or enum, refuses an ID or a Float
// whose digits 64 bits cannot hold, and takes each Int of 64 bits. Custom scalars have checks.
func literals(withTypename map[string]bool, suggestions bool) core.Rule {
	return core.Rule{Name: "ValuesOfCorrectType", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
		rule := literalRule{refuse, withTypename, suggestions}
		o.OnValue(func(_ *core.Walker, v *ast.Value) {
			if v.Definition != nil && v.ExpectedType != nil { // other rules refuse what is unknown
				rule.check(v)
			}
		})
	}}
}

type literalRule struct {
	refuse core.AddErrFunc
	// withTypename are the types whose objects may have a __typename.
	withTypename map[string]bool
	// suggestions lets errors name what may have been meant.
	suggestions bool
}

func (r literalRule) check(v *ast.Value) {
	switch {
	case v.Kind == ast.Variable: // has a type of its own
	case v.Kind == ast.ListValue && v.ExpectedType.Elem != nil: // its items are checked
	case v.Kind == ast.NullValue:
		if v.ExpectedType.NonNull {
			r.unexpected(v)
		}
	case v.Definition.Kind == ast.InputObject:
		r.object(v)
	case v.Definition.Kind == ast.Enum:
		r.enum(v)
	default:
		r.scalar(v)
	}
}

// fail refuses a literal; the format has a place for its text.
func (r literalRule) fail(v *ast.Value, format string) {
	r.refuse(core.Message(format, wire.Shorten(v.String())), core.At(v.Position))
}

func (r literalRule) unexpected(v *ast.Value) {
	r.refuse(core.Message("Expected value of type %q, found %s.", v.ExpectedType, wire.Shorten(v.String())),
		core.At(v.Position))
}

// standardScalars are the specification's scalars: the kinds of literals that they take, and what is wrong with others.
var standardScalars = map[string]struct {
	kinds []ast.ValueKind
	wrong string
}{
	"Int":     {[]ast.ValueKind{ast.IntValue}, "Int cannot represent non-integer value: %s"},
	"Float":   {[]ast.ValueKind{ast.IntValue, ast.FloatValue}, "Float cannot represent non numeric value: %s"},
	"String":  {[]ast.ValueKind{ast.StringValue, ast.BlockValue}, "String cannot represent a non string value: %s"},
	"Boolean": {[]ast.ValueKind{ast.BooleanValue}, "Boolean cannot represent a non boolean value: %s"},
	"ID": {[]ast.ValueKind{ast.StringValue, ast.BlockValue, ast.IntValue},
		"ID cannot represent a non-string and non-integer value: %s"},
}

func (r literalRule) scalar(v *ast.Value) {
	name := v.Definition.Name
	scalar, known := standardScalars[name]
	switch {
	case !known:
	case !slices.Contains(scalar.kinds, v.Kind):
		r.fail(v, scalar.wrong)
	case name == "Int" && !fits(strconv.ParseInt(v.Raw, 10, 32)):
		r.fail(v, "Int cannot represent non 32-bit signed integer value: %s")
	case name == "Float" && !fits(strconv.ParseFloat(v.Raw, 64)):
		r.fail(v, scalar.wrong)
	}
}

// fits reports whether a number could be parsed.
func fits[T any](_ T, err error) bool { return err == nil }

func (r literalRule) enum(v *ast.Value) {
	if v.Kind == ast.EnumValue && v.Definition.EnumValues.ForName(v.Raw) != nil {
		return
	}
	message := core.Message("Enum %q cannot represent non-enum value: %s.", v.Definition.Name, wire.Shorten(v.String()))
	if v.Kind == ast.EnumValue {
		message = core.Message("Value %q does not exist in %q enum.", wire.Shorten(v.Raw), v.Definition.Name)
	}
	var names []string
	for _, value := range v.Definition.EnumValues {
		names = append(names, value.Name)
	}
	r.refuse(message, r.suggest("Did you mean the enum value", v.Raw, names), core.At(v.Position))
}

func (r literalRule) object(v *ast.Value) {
	def := v.Definition
	if v.Kind != ast.ObjectValue {
		r.unexpected(v)
		return
	}

	for _, field := range def.Fields {
		if field.Type.NonNull && field.DefaultValue == nil && v.Children.ForName(field.Name) == nil {
			r.refuse(core.Message("Field %q of required type %q was not provided.", def.Name+"."+field.Name, field.Type),
				core.At(v.Position))
		}
	}

	for _, child := range v.Children {
		if child.Name == typenameField && r.withTypename[def.Name] {
			r.checkTypename(def, child.Value)
		} else if def.Fields.ForName(child.Name) == nil {
			r.refuse(core.Message("Field %q is not defined by type %q.", wire.Shorten(child.Name), def.Name),
				r.suggest("Did you mean", child.Name, fieldNames(def)), core.At(child.Position))
		}
	}

	if def.Directives.ForName("oneOf") != nil {
		r.checkOneOf(v)
	}
}

// checkTypename checks a __typename, which is then left out.
func (r literalRule) checkTypename(def *ast.Definition, v *ast.Value) {
	if v.Kind != ast.StringValue || v.Raw != typeWritten(def) {
		r.refuse(core.Message("Field %q of type %q must be %q or be left out, found %s.",
			typenameField, def.Name, typeWritten(def), wire.Shorten(v.String())),
			core.At(v.Position))
	}
}

func (r literalRule) checkOneOf(v *ast.Value) {
	if len(v.Children) != 1 {
		r.refuse(core.Message("OneOf Input Object %q must specify exactly one key.", v.Definition.Name), core.At(v.Position))
		return
	}
	if only := v.Children[0]; only.Value.Kind == ast.NullValue {
		r.refuse(core.Message("Field %q must be non-null.", v.Definition.Name+"."+only.Name), core.At(only.Value.Position))
	}
}

// suggest suggests the names that are like one that is wrong.
func (r literalRule) suggest(question, name string, names []string) core.ErrorOption {
	if !r.suggestions || name == "" {
		return func(*gqlerror.Error) {}
	}
	return core.SuggestListQuoted(question, name, names)
}

// keepDigits makes the whole numbers of a valid document that are IDs texts, and those that are Floats
// floats, because the library reads no others than those of 64 bits.
func keepDigits(_ *core.Walker, v *ast.Value) {
	if v.Kind != ast.IntValue || v.Definition == nil {
		return
	}
	switch v.Definition.Name {
	case "ID":
		v.Kind = ast.StringValue
	case "Float":
		v.Kind = ast.FloatValue
	}
}
