package executortest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph"
	"slipway/internal/page"
	"slipway/internal/record"
	"slipway/internal/resolvertest"
)

// resolved returns an endpoint of plans over resolvers that are one function, and how to ask it.
func resolved(call resolvertest.Call) *comparison {
	return &comparison{handlers: map[graph.Executor]http.Handler{
		graph.PlanExecutor: handler(resolvertest.Around(&graph.Resolver{}, call), graph.PlanExecutor, "org_1", generous),
	}}
}

func deployments(n int) *page.Connection[*record.Deployment] {
	c := &page.Connection[*record.Deployment]{PageInfo: &page.Info{}}
	for i := range n {
		c.Edges = append(c.Edges, &page.Edge[*record.Deployment]{Node: &record.Deployment{ID: fmt.Sprintf("dep_%d", i)}})
	}
	return c
}

// edges are those of a deployment that are resolved, by the names of their fields.
const edges = `project { name } environment { name } moduleInstance { name } release { digest } rollbackTo { createdAt } redeployOf { createdAt }`

// The six edges of a deployment wait until all of them have been asked for. Of a list this holds for the first
// deployment, whose batches are those of all.
func TestEdgesOfTheFirstObjectAreResolvedSideBySide(t *testing.T) {
	t.Parallel()
	for query, lists := range map[string]bool{
		`{ deployment(id: "dep_0") { ` + edges + ` } }`:           false,
		`{ deployments { nodes { ` + edges + ` } } }`:             true,
		`{ deployments { edges { node { id ` + edges + ` } } } }`: true,
	} {
		var all sync.WaitGroup
		all.Add(6)
		var mu sync.Mutex
		asked, running, most := 0, 0, 0
		c := resolved(func(ctx context.Context, f resolvertest.Field, _ func(context.Context) (any, error)) (any, error) {
			switch f.Name {
			case "Query.deployment":
				return deployments(1).Edges[0].Node, nil
			case "Query.deployments":
				return deployments(3), nil
			}
			mu.Lock()
			asked++
			running++
			most = max(most, running)
			isFirst := asked <= 6
			mu.Unlock()
			if isFirst {
				all.Done()
				all.Wait() // for ever, where they come one after the other
			}
			mu.Lock()
			running--
			if !isFirst && running > 0 {
				t.Errorf("%s: %s of another item runs beside others", query, f.Name)
			}
			mu.Unlock()
			return nil, nil
		})
		a := c.ask(t, graph.PlanExecutor, written{text: query}, ast.Query)
		want := map[bool]int{false: 6, true: 18}[lists]
		if asked != want || most != 6 {
			t.Errorf("%s: %d resolvers, %d at once, want %d and 6: %s %s", query, asked, most, want, a.data, a.errors)
		}
	}
}

func TestFieldsOfAQueryAreResolvedSideBySideAndThoseOfAMutationInTurn(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	var turns []string
	c := resolved(func(_ context.Context, f resolvertest.Field, _ func(context.Context) (any, error)) (any, error) {
		if strings.HasPrefix(f.Name, "Query.") {
			both.Done()
			both.Wait()
			return nil, nil
		}
		turns = append(turns, f.Name) // which the race detector sees
		return nil, nil
	})
	c.ask(t, graph.PlanExecutor, written{text: `{ deployment(id: "a") { id } release(id: "b") { id } }`}, ast.Query)
	c.ask(t, graph.PlanExecutor, written{text: `mutation { cancelDeployment(input: {id: "a"}) { deployment { id } } rollbackDeployment(input: {id: "b"}) { deployment { id } } }`}, ast.Mutation)
	if fmt.Sprint(turns) != "[Mutation.cancelDeployment Mutation.rollbackDeployment]" {
		t.Errorf("%v", turns)
	}
}
