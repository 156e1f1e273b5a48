// Package sdkjson writes values of the SDK as the JSON of AWS, for task definitions in the record and for the fake.
package sdkjson

import (
	"reflect"
	"strings"
	"time"
)

// Of returns a value of the SDK as the JSON API of AWS has it: names begin with a small letter, times are seconds, and
// what is not there is left out.
func Of(value any) any {
	if value == nil {
		return nil
	}
	return valueOf(reflect.ValueOf(value))
}

func valueOf(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return valueOf(v.Elem())
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = valueOf(v.Index(i))
		}
		return list
	case reflect.Map:
		members := map[string]any{}
		for _, key := range v.MapKeys() {
			members[key.String()] = valueOf(v.MapIndex(key))
		}
		return members
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return float64(at.UnixMilli()) / 1000
		}
		members := map[string]any{}
		for name, field := range Fields(v) {
			members[strings.ToLower(name[:1])+name[1:]] = valueOf(field)
		}
		return members
	default:
		return v.Interface()
	}
}

// Fields returns the fields of a struct of the SDK that are there, by their names in Go.
func Fields(v reflect.Value) func(yield func(string, reflect.Value) bool) {
	return func(yield func(string, reflect.Value) bool) {
		for i := range v.NumField() {
			f, field := v.Type().Field(i), v.Field(i)
			absent := field.Kind() != reflect.Int32 && field.Kind() != reflect.Bool && field.IsZero()
			if f.IsExported() && f.Name != "ResultMetadata" && !absent && !yield(f.Name, field) {
				return
			}
		}
	}
}
