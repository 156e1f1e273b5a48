package graph_test

import (
	"encoding/json"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

func TestParametersOfDynamicValuesAreAnObjectOfTexts(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	long := strings.Repeat("x", 200<<10)
	for params, want := range map[string]string{
		`{"projectId":1}`:              `params must be an object of strings; \"projectId\" is none.`,
		`[]`:                           `params must be an object of strings.`,
		`"text"`:                       `params must be an object of strings.`,
		`null`:                         `"totalCount":`,
		`{}`:                           `"totalCount":`,
		`{"` + long + `":"x"}`:         `"slipway:Request:INVALID"`,
		`{"projectId":"` + long + `"}`: `"totalCount":0`,
	} {
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer],
			`query($p: JSON) { dynamicValues(source: "environments", params: $p) { totalCount } }`,
			map[string]any{"p": json.RawMessage(params)})
		if !strings.Contains(string(r.Body), want) {
			t.Errorf("%.40s: %.300s, want %s", params, r.Body, want)
		}
	}
}
