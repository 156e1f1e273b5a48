package document

import (
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"

	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/wire"
)

// Check returns what is wrong with a value of a custom scalar, before anything runs. The value is never null. The error
// reads on from the name of the value, such as "must be a date, found a list".
type Check func(value Value) error

// Value is a value of a custom scalar: what the variables have, or what a literal of the document is as JSON.
type Value struct {
	*strictjson.Node
	// IsEnum is set if the document has a bare name, such as RED; the node is a string then.
	IsEnum bool
}

// checks are those of a schema's scalars, by their names. Scalars without one take any value.
type checks map[string]Check

// forLiteral returns the check of a literal, nil if there is none. Variables are checked by their own types.
func (c checks) forLiteral(v *ast.Value) Check {
	if v.Definition == nil || v.ExpectedType == nil || v.Kind == ast.Variable || v.Kind == ast.NullValue {
		return nil
	}
	if v.Kind == ast.ListValue && v.ExpectedType.Elem != nil {
		return nil // its items are checked
	}
	return c[v.Definition.Name]
}

func (c Check) literal(v *ast.Value, variable func(name string) *strictjson.Node) error {
	n, flaw := literalNode(v, variable)
	if err := c(Value{n, v.Kind == ast.EnumValue}); err != nil {
		return err
	}
	return flaw
}

func (c checks) rule() core.Rule {
	return core.Rule{Name: "CustomScalars", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
		o.OnValue(func(_ *core.Walker, v *ast.Value) {
			check := c.forLiteral(v)
			if check == nil {
				return
			}
			blank := func(string) *strictjson.Node { return &strictjson.Node{Kind: strictjson.Null} }
			if err := check.literal(v, blank); err != nil {
				refuse(core.Message("The value %s.", err), core.At(v.Position))
			}
		})
	}}
}

// scalar coerces the specification's five scalars, and checks the others, which are carried as they are.
func (c *coercion) scalar(name string, v *strictjson.Node) any {
	var value any
	var ok bool
	var want string

	switch name {
	case "Int":
		value, ok = int32Of(v)
		want = "Int, a whole number from -2147483648 to 2147483647"
	case "Float":
		value, ok = floatOf(v)
		want = "Float, a number that 64 bits can hold"
	case "String":
		value, ok = v.Text, v.Kind == strictjson.String
		want = "a String"
	case "Boolean":
		value, ok = v.Bool, v.Kind == strictjson.Bool
		want = "a Boolean"
	case "ID":
		value, ok = idOf(v)
		want = "an ID, a string or a whole number"
	default:
		return c.custom(name, v)
	}

	if !ok {
		c.fail("must be %s, found %s", want, describe(v))
	}
	return value
}

func (c *coercion) custom(name string, v *strictjson.Node) any {
	if check := c.scalars[name]; check != nil && !c.isDefault {
		if err := check(Value{Node: v}); err != nil {
			c.fail("%s", err)
		}
	}
	return v
}

func (c *coercion) enum(def *ast.Definition, v *strictjson.Node) any {
	if v.Kind != strictjson.String || def.EnumValues.ForName(v.Text) == nil {
		what := describe(v)
		if v.Kind == strictjson.String {
			what = strconv.Quote(wire.Shorten(v.Text))
		}
		var names []string
		for _, value := range def.EnumValues {
			names = append(names, value.Name)
		}
		c.fail("must be a value of %s, found %s%s", def.Name, what, c.hint("; the values are ", names))
	}
	return v.Text
}

// inLiteral returns what stands for a variable inside a literal, nil if it has no value.
func (c *coercion) inLiteral(doc *Document, def *ast.VariableDefinition, raw map[string]any) *strictjson.Node {
	if def == nil { // another operation of the document has it
		return nil
	}
	given, ok := raw[def.Variable].(*strictjson.Node)
	if !ok {
		given = doc.defaults[def]
	}
	if given == nil {
		return nil
	}
	return c.coerced(def.Type, given)
}

// coerced returns a value that was found to be of the type as JSON of it: 1.0 is 1 as an Int, and 5 is "5" as an ID.
func (c *coercion) coerced(t *ast.Type, v *strictjson.Node) *strictjson.Node {
	def := c.schema.Types[t.Name()]
	switch {
	case v.Kind == strictjson.Null:
		return v
	case t.Elem != nil:
		items := v.Items
		if v.Kind != strictjson.Array {
			items = []*strictjson.Node{v}
		}

		list := &strictjson.Node{Kind: strictjson.Array}
		for _, item := range items {
			list.Items = append(list.Items, c.coerced(t.Elem, item))
		}
		return list
	case def.Kind == ast.InputObject:
		object := &strictjson.Node{Kind: strictjson.Object}
		for i, name := range v.Keys {
			if field := def.Fields.ForName(name); field != nil {
				object.Append(name, c.coerced(field.Type, v.Items[i]))
			}
		}
		return object
	case def.Name == "Int":
		whole, _ := int32Of(v)
		return &strictjson.Node{Kind: strictjson.Number, Text: strconv.FormatInt(whole, 10)}
	case def.Name == "ID":
		return &strictjson.Node{Kind: strictjson.String, Text: v.Text}
	default:
		return v
	}
}

// int32Of takes any spelling of a whole number, such as 1.0 and 1e3.
func int32Of(v *strictjson.Node) (int64, bool) {
	f, ok := floatOf(v)
	return int64(f), ok && f == math.Trunc(f) && f >= math.MinInt32 && f <= math.MaxInt32
}

func floatOf(v *strictjson.Node) (float64, bool) {
	if v.Kind != strictjson.Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	return f, err == nil
}

func idOf(v *strictjson.Node) (string, bool) {
	return v.Text, v.Kind == strictjson.String || v.Kind == strictjson.Number && !strings.ContainsAny(v.Text, ".eE")
}

// describe returns what a value is, for an error. It does not repeat texts, which may be secrets.
func describe(v *strictjson.Node) string {
	switch v.Kind {
	case strictjson.Bool:
		return strconv.FormatBool(v.Bool)
	case strictjson.Number:
		return "the number " + wire.Shorten(v.Text)
	case strictjson.Array:
		return "a list"
	default:
		return v.Kind.String()
	}
}
