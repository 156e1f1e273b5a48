package paritytest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// valueRule is inputs with values that break one rule, and values that break none.
type valueRule struct {
	rule, pointer string
	inputs        string
	wrong, right  string
}

// rulesOfValues has the rules of values that inputs of a call can show. immutable, min_current_value and
// the rules of references need something live; they are tried where values are deployed.
var rulesOfValues = []valueRule{
	{"required", "/s", property("s", "string", `"required":true`), `{"s":""}`, `{"s":"x"}`},
	{"required", "/l", property("l", "string_array", `"required":true`), `{"l":[]}`, `{"l":["x"]}`},
	{"type", "/b", property("b", "boolean", `"default":false`), `{"b":"true"}`, `{"b":true}`},
	{"int32", "/n", property("n", "number"), `{"n":2147483648}`, `{"n":2147483647}`},
	{"format", "/g", property("g", "gitrepo"), `{"g":"ftp://host/owner/repo"}`, `{"g":"https://host.example/owner/repo"}`},
	{"max_length", "/s", property("s", "text"), `{"s":"` + strings.Repeat("x", 10_001) + `"}`, `{"s":"` + strings.Repeat("x", 10_000) + `"}`},
	{"not_in_values", "/s", property("s", "string", `"values":["a","b"]`), `{"s":"c"}`, `{"s":"b"}`},
	{"pattern", "/s", property("s", "string", pattern("^a+$")), `{"s":"b"}`, `{"s":"aa"}`},
	{"pattern", "/l/1", property("l", "string_array", pattern("^a+$")), `{"l":["a","b"]}`, `{"l":["a"]}`},
	{"min", "/n", property("n", "number", `"min":3`), `{"n":2}`, `{"n":3}`},
	{"max", "/n", property("n", "number", `"max":3`), `{"n":4}`, `{"n":3.0}`},
	{"unknown_input", "/x", property("s", "string"), `{"x":1}`, `{"s":"x"}`},
	{"unknown_input", "/a/0/x", items(property("s", "string")), `{"a":[{"x":1}]}`, `{"a":[{"s":"x"}]}`},
	{"unknown_field", "/c/g", property("c", "compound", options(`"f":1`)), `{"c":{"f":1,"g":2}}`, `{"c":{"f":1}}`},
	{"key_empty", "/m/", entries(property("s", "string")), `{"m":{"":{}}}`, `{"m":{"k":{}}}`},
	{"key_unique", "/m/two", entries(property("s", "string"), `"key":{"from_fields":["s"]}`),
		`{"m":{"one":{"s":"x"},"two":{"s":"x"}}}`, `{"m":{"one":{"s":"x"},"two":{"s":"y"}}}`},
}

func TestEveryRuleOfValuesIsToldByItsPlace(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	viewer := w.Acme.Tokens[actor.Viewer]
	validate := func(inputs, values string) []string {
		t.Helper()
		r := w.GraphQL(t, viewer, `query($inputs: [InputPropertyInput!]!, $values: JSON!) {
			validateInputs(input: {inputs: $inputs, values: $values}) { valid violations { rule pointer } } }`,
			map[string]any{"inputs": []any{map[string]any{"json": json.RawMessage(inputs)}}, "values": json.RawMessage(values)})
		found, ok := r.At(t, "data", "validateInputs", "violations").([]any)
		if !ok {
			t.Fatalf("%s with %.80s: %.300s", inputs, values, r.Body)
		}
		var broken []string
		for _, v := range found {
			violation := v.(map[string]any)
			broken = append(broken, violation["rule"].(string)+" "+violation["pointer"].(string))
		}
		if valid := r.At(t, "data", "validateInputs", "valid"); valid != (len(broken) == 0) {
			t.Errorf("%s with %.80s: valid is %v beside %v", inputs, values, valid, broken)
		}
		return broken
	}
	for _, c := range rulesOfValues {
		if broken, want := validate(c.inputs, c.wrong), []string{c.rule + " " + c.pointer}; !slices.Equal(broken, want) {
			t.Errorf("%s with %.80s: %v, want %v", c.inputs, c.wrong, broken, want)
		}
		if broken := validate(c.inputs, c.right); len(broken) > 0 {
			t.Errorf("%s with %.80s: %v, want nothing", c.inputs, c.right, broken)
		}
	}
}
