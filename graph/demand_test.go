package graph_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/pure/gate"
	"slipway/internal/test/worldtest"
)

func TestEveryKindOfDemandIsGivenAndAnswered(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		given := map[string]any{
			"approvals": map[string]any{"count": 2, "role": "ADMIN"},
			"hours":     map[string]any{"timeZone": "Europe/Berlin", "spans": []any{map[string]any{"days": []string{"MONDAY"}, "from": "09:00", "to": "17:00"}}},
			"freeze":    map[string]any{"from": "2026-12-20T00:00:00Z"},
			"liveIn":    map[string]any{"environmentIds": []string{p.Environment.ID}, "minutes": 30},
		}
		names := slices.Sorted(slices.Values(gate.Names()))
		if !slices.Equal(names, slices.Sorted(maps.Keys(given))) {
			t.Errorf("the kinds are %v", names)
		}
		var inputs []string
		for _, f := range schema.Types["RuleDemandInput"].Fields {
			inputs = append(inputs, f.Name)
		}
		if slices.Sort(inputs); !slices.Equal(names, inputs) || len(schema.Types["RuleDemand"].Types) != len(names) {
			t.Errorf("the schema has the inputs %v and the members %v for %v", inputs, schema.Types["RuleDemand"].Types, names)
		}

		for name, value := range given {
			r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($i: CreateRuleInput!) { createRule(input: $i) { rule { demand { __typename } } } }`,
				map[string]any{"i": map[string]any{"name": name, "demand": map[string]any{name: value}}})
			if got := fmt.Sprint(r.At(t, "data", "createRule", "rule", "demand", "__typename")); !strings.EqualFold(got, name+"Demand") {
				t.Errorf("%s is answered as %s: %s", name, got, r.Body)
			}
		}
	})
}

func TestADemandOfANewerServerIsRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation { createRule(input: {name: "R", demand: {freeze: {from: "2026-12-20T00:00:00Z"}}}) { rule { id } } }`, nil)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `UPDATE rules SET demand = '{"moon":{"phase":"FULL"}}'`); err != nil {
			t.Fatal(err)
		}
		id := r.At(t, "data", "createRule", "rule", "id")
		r = w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ rules(first: 10) { nodes { name demand { __typename } } } }`, nil)
		want := fmt.Sprintf("The rule %s demands moon, which a newer server of this database knows and this one does not. Ask again when all servers are of one version.", id)
		if got := r.At(t, "errors", 0, "message"); got != want {
			t.Errorf("%s", r.Body)
		}
	})
}
