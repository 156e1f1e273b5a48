package paritytest_test

import (
	"fmt"
	"net/http"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// limits is a schema with numbers and members in an order of their own, and sameLimits the same value written
// in other ways.
const (
	limits = `{"id":"limits","label":"Limits","type":"object_map","default":{"web":{"cpu":{"a":10,"b":[1,0.5]}}},
		"item_inputs":[{"id":"cpu","label":"CPU","type":"object"},{"id":"replicas","label":"Replicas","type":"number","min":1,"show_when":{"cpu":{"equals":{"x":2,"y":3}}}}]}`
	sameLimits = `{"type":"object_map","label":"Limits","default":{"web":{"cpu":{"b":[1.0,5e-1],"a":1e1}}},"id":"limits",
		"item_inputs":[{"label":"CPU","id":"cpu","type":"object"},{"type":"number","id":"replicas","show_when":{"cpu":{"equals":{"y":3.0,"x":2}}},"min":1.0,"label":"Replicas"}]}`
	otherLimits = `{"id":"limits","label":"Limits","type":"object_map","default":{"web":{"cpu":{"a":10,"b":[0.5,1]}}},
		"item_inputs":[{"id":"cpu","label":"CPU","type":"object"},{"id":"replicas","label":"Replicas","type":"number","min":1,"show_when":{"cpu":{"equals":{"x":2,"y":3}}}}]}`
)

const updateChanges = `mutation($input: UpdateDefaultValueDefinitionInput!) {
	updateDefaultValueDefinition(input: $input) { changes { field } warnings { rule } defaultValueDefinition { version updatedAt } } }`

func TestPatchThatChangesNoValueChangesNothing(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, admin := definition(t, w, w.Acme, "limits", limits), w.Acme.Tokens[actor.Admin]
		path := "/default-value-definitions/" + d.ID
		first := w.REST(t, http.MethodPatch, path, admin, `{"data":{}}`, nil)
		for _, data := range []string{
			`{}`, `{"name":"Image"}`, `{"description":"For tests"}`, `{"schema":` + sameLimits + `}`,
			`{"schema":` + limits + `,"description":"For tests","name":"Image"}`,
		} {
			writesNothing(t, w, func() {
				r := w.REST(t, http.MethodPatch, path, admin, `{"data":`+data+`}`, map[string]string{"If-Match": first.Header.Get("ETag")})
				if r.Status != http.StatusOK || r.Header.Get("ETag") != first.Header.Get("ETag") || string(r.Body) != string(first.Body) {
					t.Errorf("%s over REST: %d %s %s\nwant as before, %s %s", data, r.Status, r.Header.Get("ETag"), r.Body, first.Header.Get("ETag"), first.Body)
				}
				g := w.GraphQL(t, admin, updateChanges, patchInput(d.ID, data))
				payload := g.At(t, "data", "updateDefaultValueDefinition")
				want := fmt.Sprint(map[string]any{"changes": []any{}, "warnings": []any{}, "defaultValueDefinition": map[string]any{
					"version": 1, "updatedAt": first.Text(t, "data", "updatedAt")}})
				if fmt.Sprint(payload) != want {
					t.Errorf("%s over GraphQL: %s\nwant %s", data, g.Body, want)
				}
			})
		}
	})
}

func TestPatchTellsOnlyTheValuesThatItChanges(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d, admin := definition(t, w, w.Acme, "limits", limits), w.Acme.Tokens[actor.Admin]
		g := w.GraphQL(t, admin, updateChanges, patchInput(d.ID, `{"name":"Image","description":"","schema":`+sameLimits+`}`))
		if got := g.At(t, "data", "updateDefaultValueDefinition", "changes"); fmt.Sprint(got) != "[map[field:description]]" {
			t.Errorf("%s", g.Body)
		}
		g = w.GraphQL(t, admin, updateChanges, patchInput(d.ID, `{"description":"","schema":`+otherLimits+`}`))
		if got := g.At(t, "data", "updateDefaultValueDefinition", "changes"); fmt.Sprint(got) != "[map[field:schema]]" {
			t.Errorf("%s", g.Body)
		}
		audit := w.GraphQL(t, admin, `{ auditEvents(first: 2) { nodes { changes } } }`, nil)
		for i, want := range []string{"schema", "description"} {
			changes, _ := audit.At(t, "data", "auditEvents", "nodes", i, "changes").(map[string]any)
			if _, named := changes[want]; len(changes) != 1 || !named {
				t.Errorf("audit event %d: %v, want %s alone", i, changes, want)
			}
		}
	})
}

func TestPatchThatChangesNothingIsStillRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		d := definition(t, w, w.Acme, "limits", limits)
		path, same := "/default-value-definitions/"+d.ID, `{"data":{"schema":`+sameLimits+`}}`
		for name, c := range map[string]struct {
			role    actor.Role
			org     *worldtest.Org
			headers map[string]string
			code    fault.Code
		}{
			"by a developer":             {actor.Developer, w.Acme, nil, fault.DefaultValueDefinitionForbidden},
			"by another organization":    {actor.Admin, w.Globex, nil, fault.DefaultValueDefinitionNotFound},
			"of a version that is not":   {actor.Admin, w.Acme, map[string]string{"If-Match": `"2"`}, fault.RequestPreconditionFailed},
			"by a developer, of another": {actor.Developer, w.Acme, map[string]string{"If-Match": `"2"`}, fault.DefaultValueDefinitionForbidden},
		} {
			if r := w.REST(t, http.MethodPatch, path, c.org.Tokens[c.role], same, c.headers); r.Code(t) != string(c.code) {
				t.Errorf("%s: %d %s, want %s", name, r.Status, r.Body, c.code)
			}
		}
		stale := w.GraphQL(t, w.Acme.Tokens[actor.Admin], updateChanges, map[string]any{"input": map[string]any{"id": d.ID, "name": d.Name, "expectedVersion": 2}})
		if stale.Code(t) != string(fault.RequestPreconditionFailed) {
			t.Errorf("over GraphQL: %s", stale.Body)
		}
	})
}
