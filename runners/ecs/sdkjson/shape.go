package sdkjson

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Mismatches returns where a value, as a decoder of JSON with UseNumber has it, is not of the shape of a type of the
// SDK: a sentence each, which begins with the JSON pointer. null is as good as nothing.
func Mismatches(pointer string, value any, of reflect.Type) (all []error) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}

	fit := false
	switch v := value.(type) {
	case nil:
		fit = true
	case map[string]any:
		if of.Kind() == reflect.Struct || of.Kind() == reflect.Map {
			return members(pointer, v, of)
		}
	case []any:
		if of.Kind() == reflect.Slice {
			for i, item := range v {
				all = append(all, Mismatches(fmt.Sprintf("%s/%d", pointer, i), item, of.Elem())...)
			}
			return all
		}
	case string:
		fit = of.Kind() == reflect.String
	case bool:
		fit = of.Kind() == reflect.Bool
	case json.Number:
		fit = fits(v, of.Kind())
	}

	if !fit {
		all = append(all, fmt.Errorf("%s must be %s, found %s", pointer, KindOf(of.Kind()), found(value)))
	}
	return all
}

// members returns the mismatches of the members of an object, which is a map or a struct.
func members(pointer string, object map[string]any, of reflect.Type) (all []error) {
	known := fieldsOf(of)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at, member := pointer+"/"+escape(name), known[name]
		if of.Kind() == reflect.Map {
			member = of.Elem()
		}
		if member == nil {
			all = append(
				all, fmt.Errorf("%s is not known; there are %s", at, strings.Join(slices.Sorted(maps.Keys(known)), ", ")),
			)
			continue
		}
		all = append(all, Mismatches(at, object[name], member)...)
	}
	return all
}

// fieldsOf returns the types of the fields of a struct by their names in JSON, nil for a map.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	if of.Kind() != reflect.Struct {
		return nil
	}
	known := map[string]reflect.Type{}
	for i := range of.NumField() {
		if f := of.Field(i); f.IsExported() {
			known[strings.ToLower(f.Name[:1])+f.Name[1:]] = f.Type
		}
	}
	return known
}

// fits reports whether a number is one of a kind.
func fits(n json.Number, kind reflect.Kind) bool {
	switch kind {
	case reflect.Float64:
		_, err := n.Float64()
		return err == nil
	case reflect.Int32, reflect.Int64:
		whole, err := n.Int64()
		return err == nil && (kind == reflect.Int64 || whole >= math.MinInt32 && whole <= math.MaxInt32)
	default:
		return false
	}
}

// escape returns a name as it is in a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// KindOf returns what a kind of values is called in JSON.
func KindOf(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}

// found returns what a value is called in JSON.
func found(value any) string {
	switch v := value.(type) {
	case string:
		return "a text"
	case bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprint(v)
	}
}
