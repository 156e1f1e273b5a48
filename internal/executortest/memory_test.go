package executortest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph"
	"slipway/internal/resolvertest"
)

// Plans are kept with their documents, of which at most 1,000 are. These have as many plans as documents can: all
// variants of an interface, and conditions with many outcomes.
//
//nolint:paralleltest // what runs beside it would be counted
func TestThePlansOfAThousandDocumentsTakeAtMost16MiB(t *testing.T) {
	const documents, outcomes, most = 100, 12, 16 << 20 / 10
	took := map[graph.Executor]int{}
	for _, e := range []graph.Executor{graph.GqlgenExecutor, graph.PlanExecutor} {
		h := handler(resolvertest.Around(&graph.Resolver{}, fabricator{1, work}.call), e, "org_1", generous)
		c := comparison{handlers: map[graph.Executor]http.Handler{e: h}}
		before := heap()
		r := rand.New(rand.NewPCG(1, 2))
		for i := range documents {
			var query strings.Builder
			fmt.Fprintf(&query, "query(%s) { moduleVersion(id: %q) { inputs {", "$a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!", fmt.Sprint(i))
			for n, variable := range []string{"a", "b", "c", "d"} {
				fmt.Fprintf(&query, " ... on InputPropertyBase @include(if: $%s) { id%d: id label%d: label type%d: type }", variable, n, n, n)
			}
			query.WriteString(" } } }")
			for range outcomes {
				outcome := map[string]any{}
				for _, variable := range []string{"a", "b", "c", "d"} {
					outcome[variable] = r.IntN(2) == 0
				}
				if a := c.ask(t, e, written{query.String(), outcome}, ast.Query); a.status != http.StatusOK {
					t.Fatalf("%v %s", a.errors, query.String())
				}
			}
		}
		took[e] = heap() - before
		runtime.KeepAlive(c)
	}
	plans := took[graph.PlanExecutor] - took[graph.GqlgenExecutor]
	t.Logf("%d KiB for the plans of %d documents, which take %d KiB", plans>>10, documents, took[graph.GqlgenExecutor]>>10)
	if plans > most {
		t.Errorf("the plans of %d documents take %d KiB, at most %d", documents, plans>>10, most>>10)
	}
}

// heap returns how many bytes are in use.
func heap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
