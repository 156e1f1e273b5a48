package document

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"slipway/internal/strictjson"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"

	"slipway/internal/gqlhttp/wire"
)

// Check returns what is wrong with a value of a custom scalar, before anything runs. The value is never null; it has the
// Go types of JSON with json.Number, an strictjson.Node for an array or an object of a variable, or the types of
// ast.Value and EnumLiteral where the document has it. The error reads on from the name of the value, such as
// "must be a date, found a list".
type Check func(value any) error

// EnumLiteral is a name in a document where a custom scalar is expected.
type EnumLiteral string

var errTooWide = errors.New("must have no number that 64 bits cannot hold; numbers of variables keep their digits")

// checks are those of a schema's scalars, by their names. Scalars without one take any value.
type checks map[string]Check

// forLiteral returns the check of a literal, nil where there is none. Variables are checked by their own types.
func (c checks) forLiteral(v *ast.Value) Check {
	if v.Definition == nil || v.ExpectedType == nil || v.Kind == ast.Variable || v.Kind == ast.NullValue {
		return nil
	}
	if v.Kind == ast.ListValue && v.ExpectedType.Elem != nil {
		return nil // its items are checked
	}
	return c[v.Definition.Name]
}

func (c Check) literal(v *ast.Value, variables map[string]any) error {
	value, tooWide := v.Value(variables)
	if v.Kind == ast.EnumValue {
		value = EnumLiteral(v.Raw)
	}
	if err := c(value); err != nil {
		return err
	}
	if tooWide != nil {
		return errTooWide
	}
	return nil
}

func (c checks) rule() core.Rule {
	return core.Rule{Name: "CustomScalars", RuleFunc: func(o *core.Events, refuse core.AddErrFunc) {
		o.OnValue(func(_ *core.Walker, v *ast.Value) {
			check := c.forLiteral(v)
			if check == nil {
				return
			}
			blank := map[string]any{}
			for _, name := range variablesIn(v) {
				blank[name] = nil
			}
			if err := check.literal(v, blank); err != nil {
				refuse(core.Message("The value %s.", err), core.At(v.Position))
			}
		})
	}}
}

// scalar coerces the specification's five scalars, and checks the others, which keep their value.
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
	value := customValue(v)
	if check := c.scalars[name]; check != nil {
		if err := check(value); err != nil {
			c.fail("%s", err)
		}
	}
	return value
}

// customValue returns a value of a custom scalar. Arrays and objects stay trees, which keep the order of members.
func customValue(v *strictjson.Node) any {
	if v.Kind == strictjson.Array || v.Kind == strictjson.Object {
		return *v
	}
	return wire.Plain(v)
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
