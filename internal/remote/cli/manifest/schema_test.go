package manifest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"
)

// schema judges by JSON Schema, as far as schemas here have it.
type schema struct{ root map[string]any }

func generic(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func parsed(t *testing.T, text []byte) schema {
	t.Helper()
	return schema{generic(t, text).(map[string]any)}
}

// refuses returns why a value does not fit, "" if it does.
func (s schema) refuses(of map[string]any, v any) string {
	for name, arg := range of {
		why := ""
		switch name {
		case "$ref":
			why = s.refuses(s.root["$defs"].(map[string]any)[arg.(string)[len("#/$defs/"):]].(map[string]any), v)
		case "type":
			if types, ok := arg.([]any); ok && !slices.ContainsFunc(types, func(one any) bool { return isOf(one.(string), v) }) || !ok && !isOf(arg.(string), v) {
				why = fmt.Sprintf("%v is not %v", v, arg)
			}
		case "const":
			if !reflect.DeepEqual(arg, v) {
				why = fmt.Sprintf("%v is not %v", v, arg)
			}
		case "enum":
			if !slices.ContainsFunc(arg.([]any), func(one any) bool { return reflect.DeepEqual(one, v) }) {
				why = fmt.Sprintf("%v is not of %v", v, arg)
			}
		case "anyOf", "oneOf":
			if !slices.ContainsFunc(arg.([]any), func(one any) bool { return s.refuses(one.(map[string]any), v) == "" }) {
				why = fmt.Sprintf("%v is none of %v", v, arg)
			}
		case "allOf":
			for _, one := range arg.([]any) {
				why += s.refuses(one.(map[string]any), v)
			}
		case "$schema", "$defs", "title", "description", "default", "examples", "errorMessage", "properties", "required", "additionalProperties", "items":
		default:
			why = limited(name, arg, v)
		}
		if why != "" {
			return why
		}
	}
	return s.inside(of, v)
}

func (s schema) inside(of map[string]any, v any) (why string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if items, ok := of["items"].(map[string]any); ok {
				why += s.refuses(items, item)
			}
		}
	case map[string]any:
		required, _ := of["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Sprintf("%v is required", name)
			}
		}
		properties, _ := of["properties"].(map[string]any)
		for name, value := range v {
			switch more := of["additionalProperties"].(type) {
			case bool:
				if properties[name] == nil && !more {
					return name + " is not known"
				}
			case map[string]any:
				why += s.refuses(more, value)
			}
			if own, ok := properties[name].(map[string]any); ok {
				why += s.refuses(own, value)
			}
		}
	}
	return why
}

func isOf(name string, v any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}

func limited(name string, arg, v any) string {
	size, known := 0.0, false
	switch v := v.(type) {
	case string:
		size, known = float64(utf8.RuneCountInString(v)), name == "minLength" || name == "maxLength"
		if name == "pattern" && !regexp.MustCompile(arg.(string)).MatchString(v) {
			return fmt.Sprintf("%q does not match %v", v, arg)
		}
	case float64:
		size, known = v, name == "minimum" || name == "maximum"
	case []any:
		size, known = float64(len(v)), name == "minItems" || name == "maxItems"
	case map[string]any:
		size, known = float64(len(v)), name == "minProperties"
	}
	limit, _ := arg.(float64)
	if known && (name[:3] == "min" && size < limit || name[:3] == "max" && size > limit) {
		return fmt.Sprintf("%v is beyond %s %v", v, name, arg)
	}
	return ""
}
