package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestAPageReadsEachEdgeInOneStatementHoweverLongItIs(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		rolledBack(t, w, 50)
		for query, want := range map[string]int{
			`query($n: Int!) { deployments(first: $n) { nodes { id } } }`:            1,
			`query($n: Int!) { deployments(first: $n) { nodes { id } totalCount } }`: 2,
			`query($n: Int!) { deployments(first: $n) { nodes { project { name } environment { name } moduleInstance { moduleDefinition { name } }
				release { moduleVersion { version } } rollbackTo { createdAt } } } }`: 8,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { deployments(first: 3) { nodes { id } } } } }`:                                                        2,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { deployments(first: 3) { nodes { id } totalCount } } } }`:                                             3,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { activeDeployment { status project { name } } lastDeployment { id } deploymentCounts { count } } } }`: 4,
			`query($n: Int!) { moduleInstances(first: $n) { nodes { liveDeployment { release { deployments(first: 2) { nodes { project { name } } } } } } } }`:           5,
		} {
			few, many := statements(t, w, query, 2), statements(t, w, query, 50)
			if len(few) != want || len(many) != want {
				t.Errorf("%s: %d statements for 2 and %d for 50, want %d:\n%s", query, len(few), len(many), want, strings.Join(many, "\n"))
			}
		}
	})
}

func TestAReferenceOfWhichOnlyTheIDIsSelectedIsNotRead(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		rolledBack(t, w, 2)
		for selected, want := range map[string]int{
			`project { id } environment { id } moduleInstance { id } release { id } redeployOf { id } rollbackTo { id }`: 1,
			`rollbackTo { __typename key: id }`:                                  1,
			`rollbackTo { ...id ... on Node { id } ... { ... on Node { id } } }`: 1,
			`rollbackTo { ...id ... on Deployment { createdAt } }`:               2,
			`rollbackTo { ...id ...more }`:                                       2,
			`rollbackTo { id } rollbackTo { createdAt }`:                         2,
			`a: rollbackTo { id } b: rollbackTo { createdAt }`:                   2,
			`rollbackTo { id createdAt @skip(if: true) }`:                        2,
			`rollbackTo { id moduleInstance { id } }`:                            2,
			`rollbackTo { id rollbackEligibility { allowed } }`:                  3,
		} {
			query := `query($n: Int!) { deployments(first: $n) { nodes { id ` + selected + ` } } } `
			for name, fields := range map[string]string{"id": "id", "more": "id createdAt"} {
				if strings.Contains(selected, "..."+name) {
					query += `fragment ` + name + ` on Deployment { ` + fields + ` } `
				}
			}
			if ran := statements(t, w, query, 4); len(ran) != want {
				t.Errorf("%s: %d statements, want %d:\n%s", selected, len(ran), want, strings.Join(ran, "\n"))
			}
		}
		// What is told without reading it is what reading it tells.
		const both = `{ deployments(first: 50) { nodes {
			project { id } environment { id } moduleInstance { id moduleDefinition { id } } release { id moduleVersion { id moduleDefinition { id } } } rollbackTo { __typename id }
			read: project { id name } inEnvironment: environment { id name } of: moduleInstance { id name moduleDefinition { id name } }
			shipped: release { id createdAt moduleVersion { id version moduleDefinition { id name } } } back: rollbackTo { __typename id createdAt }
		} } }`
		r := w.GraphQL(t, w.Acme.Tokens[actor.Viewer], both, nil)
		nodes, _ := r.At(t, "data", "deployments", "nodes").([]any)
		for i := range nodes {
			for _, pair := range [][2][]any{
				{{"project", "id"}, {"read", "id"}},
				{{"environment", "id"}, {"inEnvironment", "id"}},
				{{"moduleInstance", "moduleDefinition", "id"}, {"of", "moduleDefinition", "id"}},
				{{"release", "id"}, {"shipped", "id"}},
				{{"release", "moduleVersion", "id"}, {"shipped", "moduleVersion", "id"}},
				{{"release", "moduleVersion", "moduleDefinition", "id"}, {"shipped", "moduleVersion", "moduleDefinition", "id"}},
			} {
				at := func(path []any) any {
					return r.At(t, append([]any{"data", "deployments", "nodes", i}, path...)...)
				}
				if got, want := at(pair[0]), at(pair[1]); got != want || got == nil {
					t.Errorf("%v is %v, read %v", pair[0], got, want)
				}
			}
			told, _ := r.At(t, "data", "deployments", "nodes", i, "rollbackTo").(map[string]any)
			back, _ := r.At(t, "data", "deployments", "nodes", i, "back").(map[string]any)
			if (told == nil) != (back == nil) || told["id"] != back["id"] || told["__typename"] != back["__typename"] {
				t.Errorf("rollbackTo is %v, read %v", told, back)
			}
		}
		if len(nodes) != 4 {
			t.Errorf("%d deployments: %s", len(nodes), r.Body)
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
		back, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		p.Finish(t, &ent.Deployment{ID: back.ID}, nil)
	}
	// The first request of a token reads the token too.
	w.GraphQL(t, w.Acme.Tokens[actor.Viewer], `{ viewer { tokenId } }`, nil)
}
