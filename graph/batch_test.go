package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/deployment"
	"slipway/internal/worldtest"
)

func TestAPageReadsEachEdgeInOneStatementHoweverLongItIs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		rolledBack(t, w, 50)
		for query, want := range map[string]int{
			`query($n: Int!) { deployments(first: $n) { nodes { id } } }`:            1,
			`query($n: Int!) { deployments(first: $n) { nodes { id } totalCount } }`: 2,
			`query($n: Int!) { deployments(first: $n) { nodes { project { id } environment { id } moduleInstance { moduleDefinition { id } }
				release { moduleVersion { id } } rollbackTo { id } } } }`: 8,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { deployments(first: 3) { nodes { id } } } } }`:                                            2,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { deployments(first: 3) { nodes { id } totalCount } } } }`:                                 3,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { liveDeployment { release { deployments(first: 2) { nodes { project { id } } } } } } } }`: 5,
		} {
			few, many := statements(t, w, query, 2), statements(t, w, query, 50)
			if len(few) != want || len(many) != want {
				t.Errorf("%s: %d statements for 2 and %d for 50, want %d:\n%s", query, len(few), len(many), want, strings.Join(many, "\n"))
			}
		}
	})
}

// statements returns the SQL of a query for n records, all of which must be there.
func statements(t *testing.T, w *worldtest.World, query string, n int) []string {
	t.Helper()
	return w.Statements(func() {
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], query, map[string]any{"n": n})
		data, _ := r.At(t, "data").(map[string]any)
		for list := range data {
			if nodes, _ := r.At(t, "data", list, "nodes").([]any); len(nodes) != n || r.At(t, "errors") != nil {
				t.Errorf("%d records, want %d: %.300s", len(nodes), n, r.Body)
			}
		}
	})
}

// rolledBack makes n instances of a module, each with a deployment and a rollback to it.
func rolledBack(t *testing.T, w *worldtest.World, n int) {
	t.Helper()
	p := w.Fixture(t, w.Acme, "web")
	for i := range n {
		instance := p.NewInstance(t, fmt.Sprintf("web-%d", i))
		target := p.Finish(t, p.Deploy(t, instance.ID, fmt.Sprintf(`{"image":"web:%d"}`, i)), nil)
		back, err := w.Deploy.Rollback(w.Acme.As(actor.Developer), deployment.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, &ent.Deployment{ID: back.ID}, nil)
	}
	// The first request of a token reads the token too.
	w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ viewer { id } }`, nil)
}
