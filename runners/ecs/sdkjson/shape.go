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

// Mismatches returns where a value, as a decoder of JSON with UseNumber has it, is not of the shape of a type of the SDK: a
// sentence each, which begins with the JSON pointer. null is as good as nothing.
func Mismatches(pointer string, value any, of reflect.Type) (all []error) {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	mismatch := func() []error {
		return []error{fmt.Errorf("%s must be %s, found %s", pointer, KindOf(of.Kind()), found(value))}
	}
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		if of.Kind() == reflect.Struct {
			return members(pointer, v, of)
		}
		if of.Kind() == reflect.Map {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				all = append(all, Mismatches(pointer+"/"+escape(name), v[name], of.Elem())...)
			}
			return all
		}
	case []any:
		if of.Kind() == reflect.Slice {
			for i, item := range v {
				all = append(all, Mismatches(fmt.Sprintf("%s/%d", pointer, i), item, of.Elem())...)
			}
			return all
		}
	case string:
		if of.Kind() == reflect.String {
			return nil
		}
	case bool:
		if of.Kind() == reflect.Bool {
			return nil
		}
	case json.Number:
		if fits(v, of.Kind()) {
			return nil
		}
	}
	return mismatch()
}

// members returns the mismatches of the members of an object.
func members(pointer string, object map[string]any, of reflect.Type) (all []error) {
	known := map[string]reflect.Type{}
	for i := range of.NumField() {
		if f := of.Field(i); f.IsExported() {
			known[strings.ToLower(f.Name[:1])+f.Name[1:]] = f.Type
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := pointer + "/" + escape(name)
		if member, ok := known[name]; ok {
			all = append(all, Mismatches(at, object[name], member)...)
		} else {
			all = append(all, fmt.Errorf("%s is not known; there are %s", at, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		}
	}
	return all
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
