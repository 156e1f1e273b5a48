package inputprop_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"slipway/internal/strictjson"

	"slipway/internal/fault"
	"slipway/internal/inputprop"
)

func parse(t testing.TB, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.ParseWithin([]byte(text), strictjson.Limits{Bytes: 4 << 20})
	if err != nil {
		t.Fatalf("parse %.80s: %v", text, err)
	}
	return n
}

func decode(t testing.TB, text string) (inputprop.Property, []fault.Violation) {
	t.Helper()
	return inputprop.NewRawProperty(parse(t, text)).Decode("")
}

func mustDecode(t testing.TB, text string) inputprop.Property {
	t.Helper()
	p, violations := decode(t, text)
	if len(violations) > 0 {
		t.Fatalf("decode %.200s: %v", text, violations)
	}
	return p
}

// places lists violations as "pointer rule".
func places(violations []fault.Violation) []string {
	list := []string{}
	for _, v := range violations {
		list = append(list, v.Pointer+" "+v.Rule)
	}
	return list
}

func fixture(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/all_variants.json")
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

// judged is what an engine without patterns finds wrong with a property that stands alone.
func judged(t testing.TB, p inputprop.Property, at string) []fault.Violation {
	t.Helper()
	violations, _, err := inputprop.NewEngine(nil).Check(t.Context(), p, at)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

// judgedList is judged for the inputs of a module.
func judgedList(t testing.TB, list []inputprop.Property, at string) []fault.Violation {
	t.Helper()
	violations, _, err := inputprop.NewEngine(nil).CheckList(t.Context(), list, at)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

func rulesOf(violations []fault.Violation) string {
	rules := make([]string, len(violations))
	for i, v := range violations {
		rules[i] = v.Rule
	}
	return strings.Join(rules, " ")
}
