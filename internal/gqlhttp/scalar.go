package gqlhttp

import (
	"math"
	"strconv"
	"strings"

	"slipway/internal/strictjson"

	"github.com/vektah/gqlparser/v2/ast"
)

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
		c.wrong("must be %s, found %s", want, found(v))
	}
	return value
}

func (c *coercion) custom(name string, v *strictjson.Node) any {
	value := asWritten(v)
	if check := c.scalars[name]; check != nil {
		if err := check(value); err != nil {
			c.wrong("%s", err)
		}
	}
	return value
}

// asWritten is a value of a custom scalar. Arrays and objects stay trees, which keep the order of members.
func asWritten(v *strictjson.Node) any {
	if v.Kind == strictjson.Array || v.Kind == strictjson.Object {
		return *v
	}
	return plain(v)
}

func (c *coercion) enum(def *ast.Definition, v *strictjson.Node) any {
	if v.Kind != strictjson.String || def.EnumValues.ForName(v.Text) == nil {
		what := found(v)
		if v.Kind == strictjson.String {
			what = strconv.Quote(shorten(v.Text))
		}
		var names []string
		for _, value := range def.EnumValues {
			names = append(names, value.Name)
		}
		c.wrong("must be a value of %s, found %s%s", def.Name, what, c.told("; the values are ", names))
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

// found describes a value of JSON. It does not repeat texts, which may be secrets.
func found(v *strictjson.Node) string {
	switch v.Kind {
	case strictjson.Bool:
		return strconv.FormatBool(v.Bool)
	case strictjson.Number:
		return "the number " + shorten(v.Text)
	case strictjson.Array:
		return "a list"
	default:
		return v.Kind.String()
	}
}
