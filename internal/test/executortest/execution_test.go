package executortest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph"
	"slipway/internal/data/feed"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/pure/event"
	"slipway/internal/test/resolvertest"
)

// resolved returns an endpoint of plans over resolvers that are one function, and how to ask it.
func resolved(call resolvertest.Call) *comparison {
	return &comparison{handlers: map[executor]http.Handler{
		plans: handler(resolvertest.Around(&graph.Resolver{}, call), plans, "org_1", generous),
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

// inTurn are the names of these fields.
var inTurn = []string{"project", "environment", "moduleInstance", "release", "rollbackTo", "redeployOf"}

// The six edges of a deployment wait until all of them have been asked for. Of a list this holds for the first
// deployment, whose batches are those of all; the edges of the others come in the order of the document.
func TestEdgesOfTheFirstObjectAreResolvedSideBySide(t *testing.T) {
	t.Parallel()
	for query, lists := range map[string]bool{
		`{ deployment(id: "dep_0") { ` + edges + ` } }`:           false,
		`{ deployments { nodes { ` + edges + ` } } }`:             true,
		`{ deployments { edges { node { id ` + edges + ` } } } }`: true,
		// The first item of a list comes after all items of its neighbour.
		`{ deployments { nodes { id } edges { node { ` + edges + ` } } } }`: true,
	} {
		const first, items = 6, 50
		var all sync.WaitGroup
		all.Add(first)
		var mu sync.Mutex
		var asked []string
		c := resolved(func(_ context.Context, f resolvertest.Field, _ func(context.Context) (any, error)) (any, error) {
			switch f.Name {
			case "Query.deployment":
				return deployments(1).Edges[0].Node, nil
			case "Query.deployments":
				return deployments(items), nil
			}
			mu.Lock()
			asked = append(asked, f.Name)
			isFirst := len(asked) <= first
			mu.Unlock()
			if isFirst {
				all.Done()
				all.Wait() // for ever, where they come one after the other
			}
			return nil, nil
		})
		a := c.ask(t, plans, written{text: query}, ast.Query)
		if want := map[bool]int{false: first, true: first * items}[lists]; len(asked) != want {
			t.Errorf("%s: %d resolvers, want %d: %s %s", query, len(asked), want, a.data, a.errors)
		}
		for i, name := range asked[min(first, len(asked)):] {
			if want := "Deployment." + inTurn[i%first]; name != want {
				t.Fatalf("%s: %s of item %d is resolved where %s is in turn: other items than the first are resolved side by side", query, name, 1+i/first, want)
			}
		}
	}
}

// What is below another item than the first stays in turn, after a list among it, too.
func TestEdgesBelowOtherItemsAreResolvedInTurn(t *testing.T) {
	t.Parallel()
	const items = 50
	want := []string{"Deployment.events", "Deployment.moduleInstance", "ModuleInstance.project", "ModuleInstance.environment"}
	var mu sync.Mutex
	var asked []string
	c := resolved(func(_ context.Context, f resolvertest.Field, _ func(context.Context) (any, error)) (any, error) {
		if f.Name == "Query.deployments" {
			return deployments(items), nil
		}
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, f.Name)
		switch f.Name {
		case "Deployment.events":
			return []*event.Event{{}}, nil
		case "Deployment.moduleInstance":
			return &record.ModuleInstance{}, nil
		default:
			return nil, nil
		}
	})
	a := c.ask(t, plans, written{text: `{ deployments { nodes { events { message } moduleInstance { project { name } environment { name } } } } }`}, ast.Query)
	if len(asked) != items*len(want) {
		t.Fatalf("%d resolvers, want %d: %s %s", len(asked), items*len(want), a.data, a.errors)
	}
	for i, name := range asked {
		if i >= len(want) && name != want[i%len(want)] {
			t.Fatalf("%s of item %d is resolved where %s is in turn", name, i/len(want), want[i%len(want)])
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
	c.ask(t, plans, written{text: `{ deployment(id: "a") { id } release(id: "b") { id } }`}, ast.Query)
	c.ask(t, plans, written{text: `mutation { cancelDeployment(input: {id: "a"}) { deployment { id } } rollbackDeployment(input: {id: "b"}) { deployment { id } } }`}, ast.Mutation)
	if fmt.Sprint(turns) != "[Mutation.cancelDeployment Mutation.rollbackDeployment]" {
		t.Errorf("%v", turns)
	}
}

// Each outcome of the conditions has a plan of its own; of more conditions than an outcome has bits, none is kept.
func TestEachConditionHoldsInADocumentThatIsKept(t *testing.T) {
	t.Parallel()
	const none = "fragment F%d on Query { __typename } "
	forms := []struct{ selected, fragment string }{
		{"b%[1]d: __typename @include(if: $v%[1]d) ...F%[1]d ", none},
		{"... @include(if: $v%[1]d) { b%[1]d: __typename } ...F%[1]d ", none},
		{"...F%[1]d @include(if: $v%[1]d) ", "fragment F%[1]d on Query { b%[1]d: __typename } "},
		{"...F%[1]d ", "fragment F%[1]d on Query { ... on Query { b%[1]d: __typename @include(if: $v%[1]d) } } "},
	}
	for _, conditions := range []int{len(forms), 70} {
		c := resolved(nil)
		var declared, selected, fragments strings.Builder
		for i := range conditions {
			form := forms[i%len(forms)]
			fmt.Fprintf(&declared, "$v%d: Boolean = true ", i)
			fmt.Fprintf(&selected, "a%d: __typename "+form.selected, i)
			fmt.Fprintf(&fragments, form.fragment, i)
		}
		query := fmt.Sprintf("query(%s) { %s } %s", &declared, &selected, &fragments)
		if a := c.ask(t, plans, written{text: query}, ast.Query); strings.Count(a.data, `"b`) != conditions {
			t.Fatalf("%s %s", a.data, a.errors)
		}
		for i := range conditions {
			a := c.ask(t, plans, written{query, map[string]any{fmt.Sprintf("v%d", i): false}}, ast.Query)
			if strings.Count(a.data, `"b`) != conditions-1 || strings.Contains(a.data, fmt.Sprintf(`"b%d"`, i)) {
				t.Errorf("%d conditions, without b%d: %s %s", conditions, i, a.data, a.errors)
			}
		}
	}
}

// What goes wrong within an item of a subscription is told with its path from the root on, by the key that the document
// gave to the field there.
func TestPathsWithinAnItemBeginWithTheKeyOfTheRootField(t *testing.T) {
	t.Parallel()
	failing := func(_ context.Context, f resolvertest.Field, _ func(context.Context) (any, error)) (any, error) {
		item := make(chan *feed.Item, 1)
		item <- &feed.Item{Deployment: deployments(1).Edges[0].Node}
		close(item)
		switch f.Name {
		case "Subscription.deploymentChanged":
			return (<-chan *feed.Item)(item), nil
		case "DeploymentChange.deployment":
			return f.Parent.(*feed.Item).Deployment, nil
		case "Deployment.moduleInstance":
			return nil, nil // which is null, and must not be
		case "Deployment.project", "DeploymentChange.cursor":
			return nil, errors.New("it fails")
		case "Deployment.release":
			panic("it panics")
		}
		return nil, nil
	}
	const query = `subscription { x: deploymentChanged(id: "dep_0") { at: cursor d: deployment { p: project { id } ... on Deployment { r: release { id } i: moduleInstance { id } } } } }`
	for _, e := range []executor{plans, gqlgen} {
		c := &comparison{handlers: map[executor]http.Handler{
			e: handler(resolvertest.Around(&graph.Resolver{}, failing), e, "org_1", generous),
		}}
		a := c.ask(t, e, written{text: query}, ast.Subscription)
		all := strings.Join(a.events, "\n")
		for _, path := range []string{`"path":["x","at"]`, `"path":["x","d","p"]`, `"path":["x","d","r"]`} {
			if strings.Count(all, path) != 1 {
				t.Errorf("%s: no %s in %s", e, path, all)
			}
		}
		if from, within := strings.Count(all, `"path":[`), strings.Count(all, `"path":["x",`); from != within {
			t.Errorf("%s: %d paths, %d of them from the root: %s", e, from, within, all)
		}
	}
}
