package graph_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"slipway/graph"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// elsewhere are the members that are no part of what a function returns: their callers read them.
var elsewhere = map[string]bool{
	"definitionPatch.id": true, "modulePatch.id": true, "projectPatch.id": true, "environmentPatch.id": true, "instancePatch.id": true,
	"report.id": true, "report.leaseId": true, "completion.id": true, "completion.leaseId": true,
}

// A member of an input that a function forgets is taken, and does nothing.
func TestEveryMemberOfAnInputIsHandedOn(t *testing.T) {
	t.Parallel()
	for name, f := range graph.Inputs {
		function := reflect.ValueOf(f)
		in := function.Type().In(0)
		isPointer := in.Kind() == reflect.Pointer
		if isPointer {
			in = in.Elem()
		}
		call := func(v reflect.Value) any {
			if !isPointer {
				v = v.Elem()
			}
			return function.Call([]reflect.Value{v})[0].Interface()
		}
		for field := range in.Fields() {
			member, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if elsewhere[name+"."+member] {
				continue
			}
			given := reflect.New(in)
			fill(t, given.Elem().FieldByIndex(field.Index))
			without, with := call(reflect.New(in)), call(given)
			if reflect.DeepEqual(without, with) {
				t.Errorf("%s: %s makes no difference", name, member)
			}
		}
	}
}

// fill sets a value that is not the zero one.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
		return
	case reflect.TypeFor[inputprop.RawProperty]():
		property := strictjson.MustParse(`{"string":{"id":"a","label":"A"}}`)
		v.Set(reflect.ValueOf(inputprop.NewTypedProperty(property)))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64, reflect.Int, reflect.Uint8:
		v.Set(reflect.ValueOf(1).Convert(v.Type()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Struct:
		if strings.HasPrefix(v.Type().Name(), "Omittable[") {
			for _, field := range v.Fields() {
				field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
				fill(t, field)
			}
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Field(i).Type() != v.Type() {
				fill(t, v.Field(i))
				return
			}
		}
	default:
		t.Fatalf("no value for a %s", v.Type())
	}
}
