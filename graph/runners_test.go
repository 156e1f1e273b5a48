package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/server"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/worldtest"
)

// runnersPage is what a page of runners asks for.
const runnersPage = `{ runners(first: 50) { nodes { actor { name } deploymentTypes actions askedAt running } }
	deployments(first: 20, filter: {statuses: PENDING}) { nodes { id waitingFor { kind message } } } }`

// asks has the runner of an organization ask for work, and get none.
func asks(t *testing.T, w *worldtest.World, o *worldtest.Org) {
	t.Helper()
	w.Deploy.Runners.Note(actor.From(o.As(actor.Runner)), []string{"aws:ecs"}, []state.Action{state.Apply})
	w.Deploy.Runners.StoreAsks(t.Context())
}

func TestAViewerSeesTheRunnersAndWhatDeploymentsWaitFor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		asks(t, w, w.Globex)
		viewer := w.Acme.Tokens[actor.Viewer]
		r := w.GraphQL(t, viewer, runnersPage, nil)
		if list, _ := r.At(t, "data", "runners", "nodes").([]any); len(list) != 0 || r.Text(t, "data", "deployments", "nodes", 0, "waitingFor", 0, "kind") != "RUNNER_MISSING" {
			t.Errorf("before one asks: %s", r.Body)
		}

		asks(t, w, w.Acme)
		r = w.GraphQL(t, viewer, runnersPage, nil)
		if got := fmt.Sprintf("%v %v %v", r.At(t, "data", "runners", "nodes", 0, "deploymentTypes"), r.At(t, "data", "runners", "nodes", 0, "actions"), r.At(t, "data", "runners", "nodes", 0, "running")); got != "[aws:ecs] [APPLY] 0" || r.Text(t, "data", "runners", "nodes", 0, "actor", "name") != "runner" {
			t.Errorf("one asks: %s", r.Body)
		}
		if r.Text(t, "data", "deployments", "nodes", 0, "id") != d.ID || r.Text(t, "data", "deployments", "nodes", 0, "waitingFor", 0, "kind") != "CLAIM" {
			t.Errorf("one asks: %s", r.Body)
		}

		const token = `{ runners { totalCount edges { cursor node { actor { name tokenId token { id } } scope { projectIds } } } } }`
		if r := w.GraphQL(t, viewer, token, nil); r.Code(t) != "slipway:Token:FORBIDDEN" || r.Text(t, "data", "runners", "edges", 0, "node", "actor", "name") != "runner" {
			t.Errorf("a viewer asks for the token: %s", r.Body)
		}
		if r := w.GraphQL(t, w.Acme.Tokens[actor.Admin], token, nil); r.At(t, "errors") != nil || !strings.HasPrefix(r.Text(t, "data", "runners", "edges", 0, "node", "actor", "token", "id"), "tok_") {
			t.Errorf("an admin asks for the token: %s", r.Body)
		}
		if r := w.GraphQL(t, "", runnersPage, nil); r.Code(t) != "slipway:Request:UNAUTHENTICATED" {
			t.Errorf("nobody: %s", r.Body)
		}
	})
}

func TestAPageOfRunnersIsPricedBeforeItRuns(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for most, allowed := range map[int]bool{341: true, 340: false} {
		limited := w.Serving(t, func(c *server.Config) { c.Limits.Cost = most })
		r := limited.GraphQL(t, w.Acme.Tokens[actor.Viewer], runnersPage, nil)
		if got := r.At(t, "errors") == nil; got != allowed {
			t.Errorf("at most %d: %s", most, r.Body)
		}
	}
}

func TestWhatAPageOfDeploymentsWaitsForTakesAsManyStatementsAsOne(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		asks(t, w, w.Acme)
		p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		count := func() int {
			return len(w.Statements(func() {
				if r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], runnersPage, nil); r.At(t, "errors") != nil {
					t.Fatalf("%s", r.Body)
				}
			}))
		}
		count() // which looks up the token
		one := count()
		for i := range 19 {
			p.Deploy(t, p.NewInstance(t, fmt.Sprint("i", i)).ID, `{"image":"web:1"}`)
		}
		if all := count(); all != one {
			t.Errorf("%d statements for one, %d for twenty", one, all)
		}
	})
}

// TestADeploymentThatWaitsNamesTheRuleAndTheDeploymentInItsWay reads what reasons lead to.
func TestADeploymentThatWaitsNamesTheRuleAndTheDeploymentInItsWay(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		active := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		w.GraphQL(t, w.Acme.Tokens[actor.Admin], `mutation { createRule(input: {name: "Eyes", demand: {approvals: {count: 1}}}) { rule { id } } }`, nil)
		waits := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `query($id: ID!) { deployment(id: $id) { waitingFor { kind until requirement { needed given rule { name } approvals { id } } deployment { id status } } } }`, map[string]any{"id": waits.ID})
		if r.At(t, "errors") != nil || r.Text(t, "data", "deployment", "waitingFor", 0, "kind") != "APPROVALS" || r.Text(t, "data", "deployment", "waitingFor", 0, "requirement", "rule", "name") != "Eyes" {
			t.Errorf("%s", r.Body)
		}
		if r.Text(t, "data", "deployment", "waitingFor", 1, "kind") != "DEPLOYMENT" || r.Text(t, "data", "deployment", "waitingFor", 1, "deployment", "id") != active.ID || r.At(t, "data", "deployment", "waitingFor", 1, "requirement") != nil {
			t.Errorf("%s", r.Body)
		}
	})
}
