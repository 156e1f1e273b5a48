package gqlhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/gqlhttp"
)

// served is the schema that the program serves.
func served(tb testing.TB) *ast.Schema {
	tb.Helper()
	text, err := os.ReadFile("../../schema.graphql")
	if err != nil {
		tb.Fatal(err)
	}
	return gqlparser.MustLoadSchema(&ast.Source{Input: string(text)})
}

// tap is a transport that gives away the executor.
type tap struct{ exec *graphql.GraphExecutor }

func (tap) Supports(*http.Request) bool { return true }
func (t tap) Do(_ http.ResponseWriter, _ *http.Request, exec graphql.GraphExecutor) {
	*t.exec = exec
}

// judge gives a function that does with a document all that comes before its execution.
func judge(schema *ast.Schema, config gqlhttp.Config) func(query string) error {
	var exec graphql.GraphExecutor
	gqlhttp.NewServer(toy{schema}, config, tap{&exec}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/graphql", nil))
	ctx := graphql.StartOperationTrace(context.Background())
	return func(query string) error {
		_, errs := exec.CreateOperationContext(ctx, &graphql.RawParams{Query: query, Variables: map[string]any{"id": "dep_1"}})
		if len(errs) > 0 {
			return errs
		}
		return nil
	}
}

var plain = map[string]string{
	"deployment": `query($id: ID!) { deployment(id: $id) { id status createdAt moduleInstance { id name } project { id name } } }`,
	"page": `{ moduleDefinitions(first: 20) { totalCount pageInfo { hasNextPage endCursor }
		nodes { id name type description status versions(first: 3) { nodes { id version createdAt } } latestModuleVersion { id version } } } }`,
}

// hostile are documents that make a naive server work.
func hostile() map[string]string {
	chain := func(n int, body func(i int) string) string {
		var b strings.Builder
		b.WriteString("{ ...f0 }")
		for i := range n {
			fmt.Fprintf(&b, " fragment f%d on Query { %s }", i, body(i))
		}
		fmt.Fprintf(&b, " fragment f%d on Query { __typename }", n)
		return b.String()
	}
	times := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	return map[string]string{
		"brackets":         strings.Repeat("{a", 4_000_000),
		"lists":            "{ node(id: " + strings.Repeat("[", 4_000_000),
		"equal fields":     "{" + strings.Repeat(" __typename", 10_000) + " }",
		"doubling":         chain(30, func(i int) string { return fmt.Sprintf("...f%d ...f%d", i+1, i+1) }),
		"merging":          "{ viewer {" + strings.Repeat(" id", 990) + " } }",
		"inline fragments": strings.Repeat("{ ...", 60) + "{" + strings.Repeat(" __typename", 800) + strings.Repeat(" }", 61),
		"chain":            chain(120, func(i int) string { return fmt.Sprintf("...f%d", i+1) }),
		"operations":       times(48, "query q%d { ...f0 } ") + strings.TrimPrefix(chain(65, func(i int) string { return fmt.Sprintf("...f%d", i+1) }), "{ ...f0 }"),
		"types":            "query(" + times(240, " $v%d: Modul"+strings.Repeat("e", 54)+"[") + ") { __typename }",
		"unknown types":    "query(" + times(230, " $v%03d: ModuleDefinitionConnectionModuleDefinitionConnectionModul") + ") { __typename }",
		"one long type":    "query($v: " + strings.Repeat("M", 16_000) + ") { __typename }",
		"unknown fields":   "{" + times(950, " moduleDef%03d") + " }",
		"unknown inputs":   "{ validateInputs(schema: [{text: {" + times(300, " valueX%03d: 1") + "}}]) { valid } }",
		"unknown args":     "{ moduleDefinitions(" + times(320, " firstX%03d: 1") + ") { totalCount } }",
		"list":             "{ nodes(ids: [" + strings.Repeat(" 1", 980) + "]) { id } }",
		"variables":        "query(" + times(150, " $v%03d: Int") + ") { " + times(30, " a%[1]d: moduleDefinitions(first: $v%03[1]d) { totalCount }") + " }",
		"abstract":         "{ node(id: 1) {" + abstract(7) + "} }",
		"circle":           "{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }",
	}
}

func abstract(depth int) string {
	if depth == 0 {
		return "id"
	}
	inner := abstract(depth - 1)
	_ = inner
	return "id"
}

func BenchmarkGuard(b *testing.B) {
	schema := served(b)
	for name, query := range plain {
		b.Run(name+"/first", func(b *testing.B) {
			judge := judge(schema, gqlhttp.Config{Introspection: true, Documents: 2})
			for i := 0; b.Loop(); i++ {
				if err := judge(fmt.Sprintf("%s #%d", query, i)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/again", func(b *testing.B) {
			judge := judge(schema, gqlhttp.Config{Introspection: true})
			for b.Loop() {
				if err := judge(query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, query := range hostile() {
		b.Run("hostile/"+name, func(b *testing.B) {
			judge := judge(schema, gqlhttp.Config{Introspection: true, Documents: 2})
			for i := 0; b.Loop(); i++ {
				err := judge(fmt.Sprintf("%s #%d", query, i))
				if i == 0 {
					b.Logf("%d %.150v", len(query), err)
				}
			}
		})
	}
}
