package inputprop_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// structure judges JSON by the part of JSON Schema that the generated schema is written in.
type structure struct{ root map[string]any }

// refuses says why a value does not fit, "" when it does.
func (s structure) refuses(schema map[string]any, v any) string {
	for keyword, argument := range schema {
		if why := s.keyword(schema, keyword, argument, v); why != "" {
			return why
		}
	}
	return ""
}

func (s structure) keyword(schema map[string]any, keyword string, argument, v any) string {
	text, isText := v.(string)
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	number, isNumber := v.(json.Number)
	switch keyword {
	case "$schema", "$defs", "title", "description":
	case "additionalProperties":
		if every, ok := argument.(map[string]any); ok {
			return s.each(every, object)
		}
	case "$ref":
		return s.refuses(s.target(argument.(string)), v)
	case "oneOf", "anyOf":
		return s.choices(keyword, argument.([]any), v)
	case "type":
		if !isType(argument.(string), v) {
			return fmt.Sprintf("%v is no %s", v, argument)
		}
	case "const":
		if !reflect.DeepEqual(v, argument) {
			return fmt.Sprintf("%v is not %v", v, argument)
		}
	case "required":
		for _, name := range argument.([]any) {
			if _, ok := object[name.(string)]; isObject && !ok {
				return fmt.Sprintf("%s is missing", name)
			}
		}
	case "properties":
		return s.members(schema, argument.(map[string]any), object)
	case "items":
		for i, item := range list {
			if why := s.refuses(argument.(map[string]any), item); why != "" {
				return fmt.Sprintf("%d: %s", i, why)
			}
		}
	case "minItems", "maxItems":
		if isList && !within(keyword, len(list), argument) {
			return keyword
		}
	case "minLength", "maxLength":
		if isText && !within(keyword, utf8.RuneCountInString(text), argument) {
			return keyword
		}
	case "minimum", "maximum":
		value, _ := new(big.Float).SetString(number.String())
		bound, _ := new(big.Float).SetString(argument.(json.Number).String())
		if isNumber && (keyword == "minimum" && value.Cmp(bound) < 0 || keyword == "maximum" && value.Cmp(bound) > 0) {
			return keyword
		}
	case "pattern":
		if isText && !regexp.MustCompile(argument.(string)).MatchString(text) {
			return keyword
		}
	default:
		return "unknown keyword " + keyword
	}
	return ""
}

func (s structure) target(ref string) map[string]any {
	if ref == "#" {
		return s.root
	}
	name, _ := strings.CutPrefix(ref, "#/$defs/")
	return s.root["$defs"].(map[string]any)[name].(map[string]any)
}

func (s structure) choices(keyword string, schemas []any, v any) string {
	var reasons []string
	for _, schema := range schemas {
		if why := s.refuses(schema.(map[string]any), v); why != "" {
			reasons = append(reasons, why)
		}
	}
	fitting := len(schemas) - len(reasons)
	if fitting == 0 || keyword == "oneOf" && fitting > 1 {
		return fmt.Sprintf("%s: %d fit: %s", keyword, fitting, strings.Join(reasons, "; "))
	}
	return ""
}

func (s structure) members(schema, properties, object map[string]any) string {
	for name, value := range object {
		property, known := properties[name]
		if !known && schema["additionalProperties"] == false {
			return name + " is unknown"
		}
		if known {
			if why := s.refuses(property.(map[string]any), value); why != "" {
				return name + ": " + why
			}
		}
	}
	return ""
}

func (s structure) each(schema, object map[string]any) string {
	for name, value := range object {
		if why := s.refuses(schema, value); why != "" {
			return name + ": " + why
		}
	}
	return ""
}

func isType(name string, v any) bool {
	switch v := v.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		return ok && (name == "number" || name == "integer" && r.IsInt())
	default:
		return name == "null"
	}
}

func within(keyword string, size int, argument any) bool {
	bound, err := argument.(json.Number).Int64()
	if err != nil {
		return false
	}
	if slices.Contains([]string{"minItems", "minLength"}, keyword) {
		return int64(size) >= bound
	}
	return int64(size) <= bound
}
