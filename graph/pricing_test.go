package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

// stored makes n definitions whose schemas have many small values, and returns the id of the first.
func stored(t *testing.T, w *worldtest.World, n int) (id string) {
	t.Helper()
	for i := range n {
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($i: CreateDefaultValueDefinitionInput!) {
			createDefaultValueDefinition(input: $i) { defaultValueDefinition { id } } }`, map[string]any{"i": map[string]any{
			"givenId": fmt.Sprint("stored-", i), "name": "n", "schema": map[string]any{"json": map[string]any{
				"id": "a", "label": "A", "type": "array", "default": node(t, "["+strings.Repeat("0,", 4_000)+"0]")}},
		}})
		id, _ = r.At(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id").(string)
	}
	return id
}

func TestDecodingIsChargedAndStoredJSONByItsLengthAlone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		id := stored(t, w, 1)
		for field, want := range map[string]string{
			"schemaJson":            "22",  // 8 KB, at 2 for each KiB
			"schema { __typename }": "566", // 4,000 values of 24 bytes, at 6 for each KiB
			"a: schema { __typename } b: schema { __typename }":      "1130",
			"schemaJson schema { ... on ArrayProperty { default } }": "607", // the list of the default is a text of 8 KB, too
		} {
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ defaultValueDefinition(id: %q) { %s } }`, id, field), nil)
			if got := used(t, r); got != want || r.At(t, "errors") != nil {
				t.Errorf("%s costs %s, want %s: %.300s", field, got, want, r.Body)
			}
		}
	})
}

func TestNoMoreIsReadThanMayBeDecoded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		stored(t, w, 25)
		const page = "{ defaultValueDefinitions(first: 25) { nodes { %s } } }"
		for fields, refused := range map[string]bool{
			"schemaJson":            false,
			"schema { __typename }": true,
			"schemaJson schema @include(if: false) { __typename }":                 false,
			"...f } } one: defaultValueDefinitions(first: 1) { nodes { ...f":       true,
			"schemaJson } } one: defaultValueDefinitions(first: 1) { nodes { ...f": false,
			"id } } one: defaultValueDefinitions(first: 1) { nodes { ...f":         false,
		} {
			query := fmt.Sprintf(page, fields)
			if strings.Contains(query, "...f") {
				query += " fragment f on DefaultValueDefinition { schema { __typename } }"
			}
			r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, nil)
			message, _ := r.At(t, "errors", 0, "message").(string)
			if path := metadata(t, r)["path"]; refused != (message != "") || refused && path != "defaultValueDefinitions" {
				t.Errorf("%s: %.300s", fields, r.Body)
			}
		}
	})
}

func TestNoMoreStoredJSONIsReadThanMayBeAnswered(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		stored(t, w, 25)
		poor := w.Serving(t, func(c *server.Config) { c.Limits.Cost = 300 })
		for fields, path := range map[string]string{
			"schemaJson":                    "defaultValueDefinitions",
			"schemaJson @include(if: true)": "defaultValueDefinitions.nodes.schemaJson", // which is not looked into before
			"schemaJson } } one: defaultValueDefinitions(first: 1) { nodes { id": "defaultValueDefinitions.nodes.schemaJson",
		} {
			query := fmt.Sprintf("{ defaultValueDefinitions(first: 25) { nodes { %s } } }", fields)
			r := poor.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, nil)
			if got := metadata(t, r)["path"]; got != path || r.Code(t) != string(fault.DocumentLimitExceeded) {
				t.Errorf("%s is refused at %v, want %s: %.300s", fields, got, path, r.Body)
			}
		}
	})
}
