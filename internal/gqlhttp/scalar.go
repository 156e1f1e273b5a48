package gqlhttp

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// scalar coerces the specification's five scalars, and checks the others, which keep their value.
func (c *coercion) scalar(name string, v any) any {
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
		value, ok = v.(string)
		want = "a String"
	case "Boolean":
		value, ok = v.(bool)
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

func (c *coercion) custom(name string, v any) any {
	if check := c.scalars[name]; check != nil {
		if err := check(v); err != nil {
			c.wrong("%s", err)
		}
	}
	return v
}

func (c *coercion) enum(def *ast.Definition, v any) any {
	name, ok := v.(string)
	if !ok || def.EnumValues.ForName(name) == nil {
		what := found(v)
		if ok {
			what = strconv.Quote(shorten(name))
		}
		var names []string
		for _, value := range def.EnumValues {
			names = append(names, value.Name)
		}
		c.wrong("must be a value of %s, found %s%s", def.Name, what, c.told("; the values are ", names))
	}
	return name
}

// int32Of takes any spelling of a whole number, such as 1.0 and 1e3.
func int32Of(v any) (int64, bool) {
	f, ok := floatOf(v)
	return int64(f), ok && f == math.Trunc(f) && f >= math.MinInt32 && f <= math.MaxInt32
}

func floatOf(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func idOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), !strings.ContainsAny(v.String(), ".eE")
	default:
		return "", false
	}
}

// found describes a value of JSON. It does not repeat texts, which may be secrets.
func found(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "the number " + shorten(v.String())
	case string:
		return "a string"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}
