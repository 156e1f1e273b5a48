package strictjson_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

func parse(t testing.TB, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.ParseWithin([]byte(text), strictjson.Limits{Bytes: 4 << 20})
	if err != nil {
		t.Fatalf("parse %.80s: %v", text, err)
	}
	return n
}

// places lists violations as "pointer rule".
func places(violations []fault.Violation) []string {
	list := []string{}
	for _, v := range violations {
		list = append(list, v.Pointer+" "+v.Rule)
	}
	return list
}

// fixture returns the JSON of one property of each variant.
func fixture(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../../pure/inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameJSON compares values, but numbers by their literals.
func sameJSON(t testing.TB, got, want string) {
	t.Helper()
	if g, w := generic(t, got), generic(t, want); !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func generic(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}
