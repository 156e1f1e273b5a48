package valuesource_test

import (
	"fmt"
	"slices"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/defaults"
	"slipway/internal/test/worldtest"
)

const ask = `query($source: String!, $params: JSON, $first: Int, $after: String) {
	dynamicValues(source: $source, params: $params, first: $first, after: $after) {
		nodes { value label } totalCount pageInfo { hasNextPage endCursor } } }`

type params map[string]any

func values(t testing.TB, w *worldtest.World, token, source string, p params, first int, after string) worldtest.Response {
	t.Helper()
	variables := map[string]any{"source": source, "params": p}
	if first > 0 {
		variables["first"] = first
	}
	if after != "" {
		variables["after"] = after
	}
	return w.GraphQL(t, token, ask, variables)
}

// listed walks through the options of a source, one at a time, and returns their values.
func listed(t testing.TB, w *worldtest.World, token, source string, p params) []string {
	t.Helper()
	var list []string
	for after := ""; ; {
		r := values(t, w, token, source, p, 1, after)
		if r.Refusal(t) != nil {
			t.Fatalf("%s: %s", source, r.Body)
		}
		nodes, _ := r.At(t, "data", "dynamicValues", "nodes").([]any)
		for i := range nodes {
			list = append(list, r.Text(t, "data", "dynamicValues", "nodes", i, "value"))
		}
		if r.At(t, "data", "dynamicValues", "pageInfo", "hasNextPage") != true {
			if n := fmt.Sprint(r.At(t, "data", "dynamicValues", "totalCount")); n != fmt.Sprint(len(list)) {
				t.Errorf("%s: totalCount is %s, there are %q", source, n, list)
			}
			return list
		}
		after = r.Text(t, "data", "dynamicValues", "pageInfo", "endCursor")
	}
}

func parsed(t testing.TB, text string) *strictjson.Node {
	t.Helper()
	n, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// define makes an organization a default value definition of a string with values.
func define(t testing.TB, w *worldtest.World, o *worldtest.Org, givenID, values string) {
	t.Helper()
	schema := parsed(t, `{"id":"v","label":"V","type":"string","values":`+values+`}`)
	if _, _, err := w.Defaults.Create(o.As(actor.Admin), defaults.New{GivenID: givenID, Name: givenID, Schema: inputprop.NewRawProperty(schema)}); err != nil {
		t.Fatal(err)
	}
}

func from(givenID string) string {
	return `{"source":"default_value_definition","params":{"givenId":"` + givenID + `"}}`
}

func wants(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
