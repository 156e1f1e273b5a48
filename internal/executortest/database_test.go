package executortest_test

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph"
	"slipway/internal/actor"
	"slipway/internal/demo"
	"slipway/internal/server"
	"slipway/internal/worldtest"
)

var idOf = regexp.MustCompile(`"([a-z]+)_[0-9a-z]{26}"`)

// kinds are those of the records that arguments are the ids of, by the names of arguments and, for id, of fields.
var kinds = map[string]string{
	"deployment": "dep", "moduleInstance": "inst", "release": "rel", "project": "prj", "environment": "env", "moduleDefinition": "mod",
	"moduleVersion": "mver", "defaultValueDefinition": "dvd", "from": "dep", "to": "dep",
}

// Queries over the rows of the demo, by the resolvers of the program with their batches.
func TestBothExecutorsAnswerTheSameOverADatabase(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		demonstrated, err := demo.Seed(t.Context(), w.Services, w.Store, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		c := comparison{handlers: map[graph.Executor]http.Handler{}, asked: map[string]int{}, token: demonstrated.Tokens[actor.Admin]}
		for _, e := range []graph.Executor{graph.PlanExecutor, graph.GqlgenExecutor} {
			c.handlers[e] = w.Serving(t, func(c *server.Config) { c.Executor, c.Limits, c.MaxQuery, c.MaxBody = e, generous, 1<<20, 1<<22 }).Handler()
		}
		ids := map[string][]string{}
		const every = `{ deployments(first: 50) { nodes { id releaseId rollbackTo { id } redeployOf { id } } } moduleInstances { nodes { id } } projects { nodes { id } }
			environments { nodes { id } } moduleDefinitions { nodes { id versions { nodes { id } } } } defaultValueDefinitions { nodes { id } } }`
		for _, found := range idOf.FindAllStringSubmatch(c.ask(t, graph.GqlgenExecutor, written{text: every}, ast.Query).data, -1) {
			ids[found[1]] = append(ids[found[1]], strings.Trim(found[0], `"`))
		}
		a := &author{Rand: rand.New(rand.NewPCG(*seed, 7)), schema: schema}
		a.values = func(field, argument string) (any, bool) {
			kind := kinds[strings.TrimSuffix(argument, "Id")]
			if argument == "id" {
				kind = kinds[field]
			}
			switch {
			case argument == "after" || argument == "before" || argument == "organizationId":
				return nil, true
			case len(ids[kind]) == 0 || a.chance(.03):
				return nil, false
			}
			return ids[kind][a.IntN(len(ids[kind]))], true
		}
		for c.executed < *documents/10 {
			c.compare(t, a.write(ast.Query), ast.Query)
		}
		t.Logf("%d executed, %d refused, %d with errors, %d differ, %d bytes", c.executed, c.refused, c.failed, c.different, c.bytes)
	})
}
