package graph_test

import (
	"fmt"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/test/worldtest"
)

// recorded returns the id of a record of every type that is a Node, by the name of the type.
func recorded(t *testing.T, w *worldtest.World, o *worldtest.Org) map[string]string {
	t.Helper()
	p := w.Fixture(t, o, "web")
	d := p.Succeeded(t)
	r := w.GraphQL(t, o.Tokens[actor.Admin], `mutation($r: ID!) {
		createDefaultValueDefinition(input: {givenId: "d", name: "D", schema: {text: {id: "d", label: "D"}}}) { defaultValueDefinition { id } }
		quarantineRelease(input: {id: $r, reason: "Bad"}) { release { quarantine { id } } }
	}`, map[string]any{"r": *d.ReleaseID})
	tokens := w.GraphQL(t, o.Tokens[actor.Admin], `{ tokens(first: 1) { nodes { id } } }`, nil)
	events := w.GraphQL(t, o.Tokens[actor.Admin], `{ auditEvents(first: 1) { nodes { id } } }`, nil)
	ruled := w.GraphQL(t, o.Tokens[actor.Admin], `mutation($e: ID!) {
		createRule(input: {name: "Four eyes", environmentId: $e, demand: {approvals: {count: 2}}}) { rule { id } } }`, map[string]any{"e": p.Environment.ID})
	waiting := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
	approved := w.GraphQL(t, o.Tokens[actor.Admin], `mutation($id: ID!) {
		approveDeployment(input: {id: $id}) { deployment { approvals { nodes { id } } } } }`, map[string]any{"id": waiting.ID})
	return map[string]string{
		"Rule": ruled.Text(t, "data", "createRule", "rule", "id"), "Approval": approved.Text(t, "data", "approveDeployment", "deployment", "approvals", "nodes", 0, "id"),
		"Token": tokens.Text(t, "data", "tokens", "nodes", 0, "id"), "Organization": o.ID, "Project": p.Project.ID, "Environment": p.Environment.ID, "ModuleDefinition": p.Definition.ID,
		"ModuleVersion": p.Version.ID, "ModuleInstance": p.Instance.ID, "Release": *d.ReleaseID, "Deployment": d.ID,
		"DefaultValueDefinition": r.Text(t, "data", "createDefaultValueDefinition", "defaultValueDefinition", "id"),
		"Quarantine":             r.Text(t, "data", "quarantineRelease", "release", "quarantine", "id"),
		"AuditEvent":             events.Text(t, "data", "auditEvents", "nodes", 0, "id"),
	}
}

func TestEveryNodeIsFoundByWhoMayReadIt(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		all := recorded(t, w, w.Acme)
		var ids, types []string
		for _, def := range schema.GetPossibleTypes(schema.Types["Node"]) {
			id, known := all[def.Name]
			if !known {
				t.Errorf("the test has no %s", def.Name)
			}
			ids, types = append(ids, id), append(types, def.Name)
		}
		for _, role := range []actor.Role{actor.Viewer, actor.Developer, actor.Runner, actor.Admin} {
			r := w.GraphQL(t, w.Acme.Tokens[role], `query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }`, map[string]any{"ids": ids})
			for i, name := range types {
				if forbidden := map[string]fault.Code{"AuditEvent": fault.AuditEventForbidden, "Token": fault.TokenForbidden}[name]; forbidden != "" && role != actor.Admin {
					if r.At(t, "data", "nodes", i) != nil || code(t, r, fmt.Sprint("nodes ", i)) != string(forbidden) {
						t.Errorf("%s: %s: %s", role, name, r.Body)
					}
					continue
				}
				if r.Text(t, "data", "nodes", i, "__typename") != name || r.Text(t, "data", "nodes", i, "id") != ids[i] {
					t.Errorf("%s: %s: %s", role, name, r.Body)
				}
			}
		}
	})
}

func TestADeletionAnswersWithWhatWasDeleted(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		id := recorded(t, w, w.Acme)["DefaultValueDefinition"]
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation($id: ID!) { deleteDefaultValueDefinition(input: {id: $id}) {
			defaultValueDefinition { id givenId name schema { ... on TextProperty { label } } schemaJson } } }`, map[string]any{"id": id})
		const want = `map[givenId:d id:%s name:D schema:map[label:D] schemaJson:map[id:d label:D type:text]]`
		if got := fmt.Sprint(r.At(t, "data", "deleteDefaultValueDefinition", "defaultValueDefinition")); got != fmt.Sprintf(want, id) {
			t.Errorf("%s", r.Body)
		}
		if r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `query($id: ID!) { node(id: $id) { id } }`, map[string]any{"id": id}); r.Code(t) != string(fault.NodeNotFound) {
			t.Errorf("it is still there: %s", r.Body)
		}
	})
}

func TestAuditEventsTellWhoActed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		recorded(t, w, w.Acme)
		r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], `{
			by: auditEvents(filter: {action: "quarantineRelease"}) { nodes { actor { tokenId role } } }
			server: auditEvents(filter: {action: "createToken"}) { nodes { actor { kind name role tokenId } } }
			later: auditEvents(filter: {createdFrom: "2200-01-01T00:00:00Z"}) { totalCount }
			earlier: auditEvents(filter: {createdBefore: "2000-01-01T00:00:00Z"}) { totalCount } }`, nil)
		if r.At(t, "errors") != nil || r.At(t, "data", "by", "nodes", 0, "actor", "role") != "ADMIN" || r.Text(t, "data", "by", "nodes", 0, "actor", "tokenId") == "" ||
			fmt.Sprint(r.At(t, "data", "server", "nodes", 0)) != "map[actor:map[kind:COMMAND name:test role:<nil> tokenId:<nil>]]" ||
			fmt.Sprint(r.At(t, "data", "later"), r.At(t, "data", "earlier")) != "map[totalCount:0] map[totalCount:0]" {
			t.Errorf("%s", r.Body)
		}
	})
}
