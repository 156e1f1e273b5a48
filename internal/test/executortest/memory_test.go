package executortest_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/test/resolvertest"
)

// Plans are kept with their documents, of which at most 1,000 are, and fewer large ones. A tenth of these is executed
// here, with so many outcomes of their conditions that the plans are as large as they can be.
//
//nolint:paralleltest // what runs beside it would be counted
func TestThePlansOfAThousandDocumentsTakeAtMost16MiB(t *testing.T) {
	const most = 16 << 20 / 10
	for name, of := range map[string]struct {
		documents, conditions int
		// selected is what is asked of the version of a module.
		selected string
	}{
		// Each variant of an interface has a plan of its own.
		"small documents": {100, 4, `inputs { ` + each(4, `... on InputPropertyBase @include(if: $%[1]c) { id%[1]c: id label%[1]c: label type%[1]c: type } `) + `}`},
		// A thousand tokens. The fields become one, but each outcome has a list of them.
		"one field many times": {4, 6, each(6, `__typename @include(if: $%c) `) + `moduleDefinition { ` + strings.Repeat("id ", 850) + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			took := map[executor]int{}
			for _, e := range []executor{gqlgen, plans} {
				h := handler(resolvertest.Around(&graph.Resolver{}, fabricator{1, work}.call), e, "org_1", document.DefaultLimits())
				c := comparison{handlers: map[executor]http.Handler{e: h}}
				before := heap()
				for i := range of.documents {
					query := fmt.Sprintf("query(%s) { moduleVersion(id: \"%d\") { %s } }", each(of.conditions, "$%c: Boolean = false "), i, of.selected)
					for outcome := range 1 << of.conditions {
						conditions := map[string]any{}
						for bit := range of.conditions {
							conditions[string(rune('a'+bit))] = outcome>>bit&1 == 1
						}
						if a := c.ask(t, e, written{query, conditions}, ast.Query); a.status != http.StatusOK {
							t.Fatalf("%v %s", a.errors, query)
						}
					}
				}
				took[e] = heap() - before
				runtime.KeepAlive(c)
			}
			plans := took[plans] - took[gqlgen]
			t.Logf("%d KiB for the plans of %d documents, which take %d KiB", plans>>10, of.documents, took[gqlgen]>>10)
			if plans > most {
				t.Errorf("the plans of %d documents take %d KiB, at most %d", of.documents, plans>>10, most>>10)
			}
		})
	}
}

// each returns the format n times, with the letters from a on.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, 'a'+i)
	}
	return b.String()
}

// heap returns how many bytes are in use.
func heap() int {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
