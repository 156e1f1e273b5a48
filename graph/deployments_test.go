package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// The version of a deployment is an edge: one statement for a page, and none for its id.
func TestTheVersionsOfDeploymentsAreReadByOneStatement(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		p.Succeeded(t)
		p.Succeeded(t)
		token := w.Acme.Tokens[actor.Viewer]
		for selection, want := range map[string]struct {
			statements int
			node       string
		}{
			"operation moduleVersion { version }":  {1, "map[moduleVersion:map[version:1.4.0] operation:CREATE]"},
			"moduleVersionId moduleVersion { id }": {0, fmt.Sprintf("map[moduleVersion:map[id:%[1]s] moduleVersionId:%[1]s]", p.Version.ID)},
		} {
			var r worldtest.Response
			ran := w.Statements(func() {
				r = w.GraphQL(t, token, "{ deployments { nodes { "+selection+" } } }", nil)
			})
			versions := 0
			for _, statement := range ran {
				if strings.Contains(statement, `FROM "module_versions"`) {
					versions++
				}
			}
			if got := fmt.Sprint(r.At(t, "data", "deployments", "nodes", 1)); got != want.node {
				t.Errorf("%s: %s, want %s", selection, got, want.node)
			}
			if versions != want.statements {
				t.Errorf("%s: %d statements for the versions, want %d: %q", selection, versions, want.statements, ran)
			}
		}
	})
}

// The same list under two names of a document is two lists if its filters or its orders differ.
func TestListsOfDeploymentsDifferByTheirFiltersAndOrders(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		first := p.Succeeded(t)
		pending := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], fmt.Sprintf(`{ environment(id: %q) {
			all: deployments { nodes { id } } ended: deployments(orderBy: LAST_COMPLETED) { totalCount nodes { id } }
			open: deployments(filter: {statuses: [PENDING, RUNNING]}) { nodes { id } }
			elsewhere: deployments(filter: {environmentId: "env_00000000000000000000000000"}) { totalCount nodes { id } }
			project { deployments(orderBy: LAST_COMPLETED) { totalCount } } } }`, p.Environment.ID), nil)
		want := fmt.Sprintf("map[all:map[nodes:[map[id:%[1]s] map[id:%[2]s]]] elsewhere:map[nodes:[] totalCount:0] "+
			"ended:map[nodes:[map[id:%[2]s]] totalCount:1] open:map[nodes:[map[id:%[1]s]]] project:map[deployments:<nil>]]", pending.ID, first.ID)
		if got := fmt.Sprint(r.At(t, "data", "environment")); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if message := r.Text(t, "errors", 0, "message"); !strings.Contains(message, "filter.environmentId") {
			t.Errorf("%s", r.Body)
		}
	})
}
