// Package inputtest writes inputs for the tests of those who read, check and resolve them.
package inputtest

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// Parse reads JSON of up to 4 MB.
func Parse(t testing.TB, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.ParseWithin([]byte(text), strictjson.Limits{Bytes: 4 << 20})
	if err != nil {
		t.Fatalf("parse %.80s: %v", text, err)
	}
	return n
}

// Decode reads a property.
func Decode(t testing.TB, text string) (inputprop.Property, []fault.Violation) {
	t.Helper()
	return inputprop.NewRawProperty(Parse(t, text)).Decode("")
}

// MustDecode reads a property that has no violation.
func MustDecode(t testing.TB, text string) inputprop.Property {
	t.Helper()
	p, violations := Decode(t, text)
	if len(violations) > 0 {
		t.Fatalf("decode %.200s: %v", text, violations)
	}
	return p
}

// Places lists violations as "pointer rule".
func Places(violations []fault.Violation) []string {
	list := []string{}
	for _, v := range violations {
		list = append(list, v.Pointer+" "+v.Rule)
	}
	return list
}

// Fixture returns a list of properties, one of each variant with every member that it may have.
func Fixture(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../inputprop/testdata/all_variants.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// SameJSON compares values, but numbers by their literals.
func SameJSON(t testing.TB, got, want string) {
	t.Helper()
	if g, w := Generic(t, got), Generic(t, want); !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Generic returns JSON as encoding/json reads it, numbers as their literals.
func Generic(t testing.TB, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// RulesOf returns the rules of violations, with spaces between.
func RulesOf(violations []fault.Violation) string {
	rules := make([]string, len(violations))
	for i, v := range violations {
		rules[i] = v.Rule
	}
	return strings.Join(rules, " ")
}

// MustDecodeList reads a list of properties that has no violation.
func MustDecodeList(t testing.TB, text string) []inputprop.Property {
	t.Helper()
	list, violations := inputprop.DecodeList(Parse(t, text), "")
	if len(violations) > 0 {
		t.Fatalf("decode %.200s: %v", text, violations)
	}
	return list
}

// Document returns a file of the documentation.
func Document(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
