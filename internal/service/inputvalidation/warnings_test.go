package inputvalidation_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// warned returns the warnings of a mutation's payload, each as "pointer rule".
func warned(t testing.TB, w *worldtest.World, mutation, input string, more map[string]any) []string {
	t.Helper()
	document := fmt.Sprintf(`mutation($input: %s!) { %s(input: $input) { warnings { pointer rule message } } }`, input, mutation)
	r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], document, map[string]any{"input": more})
	list, ok := r.At(t, "data", mutation, "warnings").([]any)
	if !ok {
		t.Errorf("%s: %s", mutation, r.Body)
	}
	got := make([]string, len(list))
	for i := range list {
		got[i] = r.Text(t, "data", mutation, "warnings", i, "pointer") + " " + r.Text(t, "data", mutation, "warnings", i, "rule")
		if r.Text(t, "data", mutation, "warnings", i, "message") == "" {
			t.Errorf("%s says nothing", got[i])
		}
	}
	return got
}

func TestWhatIsDoubtfulIsSavedWithAWarning(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		w.Fixture(t, w.Globex, "theirs")
		d := definition(t, w, w.Acme, "image", input("image", "string", ""))
		for i, c := range []struct {
			schema string
			want   []string
		}{
			{input("s", "string", ""), nil},
			{input("s", "string", `"patterns":[{"pattern":"^[a-z]+$","message":"m"},{"pattern":"\\-","message":"m"}]`), []string{"/patterns/1/pattern pattern_portability"}},
			{input("d", "section", ""), []string{" root_section"}},
			{input("s", "string", `"show_when":{"x":1}`), []string{"/show_when root_show_when"}},
			{input("r", "$ref:web", ""), nil},
			{input("r", "$ref:aws/vpc", ""), []string{"/type unknown_module_type"}},
			{input("r", "$ref:theirs", ""), []string{"/type unknown_module_type"}},
		} {
			var want, inList []string
			for _, warning := range c.want {
				want = append(want, "/input/schema"+warning)
				if !strings.Contains(warning, " root_") {
					inList = append(inList, "/input/inputs/0"+warning)
				}
			}
			schema := map[string]any{"json": json.RawMessage(c.schema)}
			wants(t, "create "+c.schema, warned(t, w, "createDefaultValueDefinition", "CreateDefaultValueDefinitionInput",
				map[string]any{"givenId": fmt.Sprintf("d%d", i), "name": "D", "schema": schema}), want...)
			wants(t, "update "+c.schema, warned(t, w, "updateDefaultValueDefinition", "UpdateDefaultValueDefinitionInput",
				map[string]any{"id": d.ID, "schema": schema}), want...)
			if !strings.Contains(c.schema, "show_when") {
				wants(t, "publish "+c.schema, warned(t, w, "publishModuleVersion", "PublishModuleVersionInput",
					map[string]any{"moduleDefinitionId": p.Definition.ID, "version": fmt.Sprintf("2.%d.0", i), "deploymentType": "aws:ecs", "inputs": []any{schema}}), inList...)
			}
			r := w.REST(t, "PATCH", "/default-value-definitions/"+d.ID, w.Acme.Tokens[actor.Admin], `{"data":{"schema":`+c.schema+`}}`, nil)
			if r.Status != 200 || r.At(t, "data") == nil || strings.Contains(string(r.Body), "warnings") {
				t.Errorf("REST %s: %d %s", c.schema, r.Status, r.Body)
			}
		}
	})
}
