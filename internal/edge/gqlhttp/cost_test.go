package gqlhttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/edge/gqlhttp/wire"
)

func TestAnAnswerHasItsCost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, variables string
		want             float64
	}{
		{`{ __typename }`, ``, 1},
		{`{ __typename take }`, ``, 6},
		{`{ __typename cat { id } a: take b: take }`, ``, 12},
		{`{ cat { id name } }`, ``, 2},
		{`{ cat { mother { friend { id } } } pet { __typename } }`, ``, 5},
		{`{ herd { __typename } }`, ``, 2},
		{`{ herd { nodes { id } } }`, ``, 8},
		{`{ herd(first: 3) { nodes { mother { id } } } }`, ``, 9},
		{`{ herd(first: 3) { ... on Herd { all: nodes { mother { id } } } __typename } }`, ``, 9},
		{`{ herd(last: 4) { nodes { id } } }`, ``, 7},
		{`{ herd(first: 3, last: 4) { nodes { id } } }`, ``, 7},
		{`{ herd(first: null) { nodes { id } } }`, ``, 8},
		{`{ herd(first: -7) { nodes { id } } }`, ``, 8},
		{`query($n: Int) { herd(first: $n) { nodes { id } } }`, `{"n":9}`, 12},
		{`query($n: Int) { herd(first: $n) { nodes { id } } }`, ``, 8},
		{`query($n: Int = 6) { herd(first: $n) { nodes { id } } }`, ``, 9},
		{`{ nodes(ids: ["a", "b"]) { id mother { id } } }`, ``, 6},
		{`{ nodes(ids: "a") { mother { id } } }`, ``, 4},
		{`query($ids: [ID!]!) { nodes(ids: $ids) { mother { id } } }`, `{"ids":["a","b","c"]}`, 8},
		{`{ pet { __typename ... on Cat { mother { id } friend { id } } ... on Dog { friend { id } } ... on Cat { lives } } }`, ``, 4},
		{`{ cat { ...f ... on Cat { mother { id } } } pet { ...f } } fragment f on Animal { friend { id } }`, ``, 6},
		{`{ cat { ... on Animal { ... on Dog { friend { friend { id } } } } } }`, ``, 1},
		{`{ cat { ... on Animal { ... on Night { friend { friend { id } } } } } }`, ``, 1},
		{`{ cat { ... { mother { id } } ... on Named { name } } }`, ``, 3},
		{`{ herd(first: 3) { nodes { ...n ... on Owl { mother { id } } } } } fragment n on Named { ... on Cat { mother { id } } ... on Dog { mother { id } } }`, ``, 9},
		{`{ herd(first: 3) { nodes { ... on Named { ... on Animal { mother { id } } } ... on Night { friend { id } } } } }`, ``, 9},
		{`{ herd(first: 3) { nodes { ... on Named { name ... on Animal { mother { id } } } ... on Cat { friend { id } } ... on Night { friend { id } } } } }`, ``, 12},
		{`query($no: Boolean!) { cat @skip(if: $no) { id } pet @include(if: true) { __typename } ... @include(if: false) { cat { id } } }`, `{"no":true}`, 2},
		{`query a($no: Boolean = true) { cat @skip(if: $no) { id } }`, ``, 0},
		{`mutation { set grow { mother { id } } __typename }`, ``, 22},
		{`{ herd(first: 2) { nodes { id } } take }`, ``, 10},
		{`{ __schema { types { name fields { name } } } }`, ``, 5},
		{"{ __schema { types { fields { type " + nested(12, "{ ofType ", "{ name }", "}") + " } } } }", ``, 8},
	} {
		a := treeServer(gqlhttp.Config{Introspection: true, Limits: document.Limits{Large: []string{"JSON"}}}).run(t, c.query, c.variables)
		cost, _ := a.Extensions["cost"].(map[string]any)
		if a.Status != 200 || len(cost) != 2 || cost["used"] != c.want || cost["limit"] != 10_000.0 {
			t.Errorf("%s %s: %s, want %v", c.query, c.variables, a.Body, c.want)
		}
	}
}

func TestEndlessCostIsRefusedWithoutOverflow(t *testing.T) {
	t.Parallel()
	const page = `herd(first: 2147483647) { nodes { mother { id } friend { id } } }`
	for _, query := range []string{
		`{ ` + page + ` }`, `{ a: ` + page + ` b: ` + page + ` c: ` + page + ` }`,
		`query($n: Int) { herd(first: $n) { nodes { id } } }`,
		"{ herd { nodes { ... on Cat " + nested(4, "{ herd(first: 2147483647) { nodes { ... on Cat ", "{ id }", "} } }") + " } } }",
	} {
		a := treeServer(gqlhttp.Config{}).run(t, query, `{"n":2147483647}`)
		if a.code() != string(fault.DocumentLimitExceeded) || !strings.HasPrefix(a.Errors[0].Message, `The operation is over the limit "cost": at most 10000 (--max-cost), found more than 10000.`) {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
}

func TestOnlyTheOperationThatRunsHasACost(t *testing.T) {
	t.Parallel()
	a := treeServer(gqlhttp.Config{}).do(t, post(`{"query":"query a { herd(first: 12000) { nodes { id } } } query b { cat { id } }","operationName":"b"}`))
	if a.Status != 200 {
		t.Error(a.Body)
	}
}

// tap is a transport that keeps the executor.
type tap struct{ exec *stream.Executor }

func (tap) Supports(*http.Request) bool { return true }

func (t tap) Do(_ http.ResponseWriter, _ *http.Request, exec stream.Executor) { *t.exec = exec }

func TestEventsHaveNoCost(t *testing.T) {
	t.Parallel()
	var exec stream.Executor
	gqlhttp.NewServer(toy{treeSchema}, gqlhttp.Config{}, tap{&exec}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/graphql", nil))
	for query, want := range map[string]int{`subscription { cats { id } }`: 0, `{ cat { id } }`: 1} {
		ctx := t.Context()
		op, errs := exec.Create(ctx, &wire.Request{RawParams: graphql.RawParams{Query: query, Headers: http.Header{wire.CostHeader: {"true"}}}})
		if errs != nil {
			t.Fatal(errs)
		}
		next, ctx := exec.DispatchOperation(ctx, op)
		if got := next(ctx).Extensions; len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func TestWhatIsRefusedHasNoCost(t *testing.T) {
	t.Parallel()
	if a := treeServer(gqlhttp.Config{}).run(t, `{ nothing }`, ``); a.Extensions != nil {
		t.Error(a.Body)
	}
}
