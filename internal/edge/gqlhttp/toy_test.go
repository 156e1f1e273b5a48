package gqlhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/edge/gqlhttp"
)

// toy is a schema whose root fields give back the arguments that they were called with, so that a test
// sees what reaches a resolver.
type toy struct{ schema *ast.Schema }

var toySchema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	directive @defer(if: Boolean = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
	scalar JSON
	enum Color { RED GREEN }
	input Item { name: String!, count: Int = 1, color: Color, tags: [String!], more: [Item!], size: Int! = 2 }
	input Pick @oneOf { text: String, number: Int, item: Item }
	type Query {
		echo(int: Int, float: Float, text: String, flag: Boolean, id: ID, color: Color, ints: [Int!], grid: [[Int]],
			item: Item, pick: Pick, json: JSON, sure: Boolean! = false): JSON
		fails(how: String!): JSON
	}
	type Mutation { echo(text: String): JSON }
	type Subscription { ticks: Int }
`})

func (s toy) Schema() *ast.Schema { return s.schema }

func (s toy) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (s toy) Exec(ctx context.Context) graphql.ResponseHandler {
	op := graphql.GetOperationContext(ctx)
	return func(ctx context.Context) *graphql.Response {
		return &graphql.Response{Data: s.resolve(ctx, op)}
	}
}

func (s toy) resolve(ctx context.Context, op *graphql.OperationContext) json.RawMessage {
	data := map[string]any{}
	for _, field := range graphql.CollectFields(op, op.Operation.SelectionSet, []string{"Query", "Mutation"}) {
		ctx := graphql.WithFieldContext(ctx, &graphql.FieldContext{Field: field, Args: field.ArgumentMap(op.Variables)})
		data[field.Alias] = s.field(ctx, field)
	}
	encoded, _ := json.Marshal(data)
	return encoded
}

func (s toy) field(ctx context.Context, field graphql.CollectedField) (value any) {
	defer func() {
		if p := recover(); p != nil {
			value = nil
			graphql.AddError(ctx, graphql.Recover(ctx, p))
		}
	}()
	args := graphql.GetFieldContext(ctx).Args
	switch field.Name {
	case "__typename":
		return field.ObjectDefinition.Name
	case "__schema":
		return !graphql.GetOperationContext(ctx).DisableIntrospection
	case "fails":
		graphql.AddError(ctx, fail(args["how"].(string)))
		return nil
	default:
		return args
	}
}

// server is a toy with its log.
type server struct {
	http.Handler
	log *bytes.Buffer
}

func newServer(config gqlhttp.Config) server {
	log := new(bytes.Buffer)
	config.Presenter = gqlhttp.Presenter{Log: slog.New(slog.NewJSONHandler(log, nil))}
	return server{gqlhttp.NewServer(toy{toySchema}, config, gqlhttp.HTTP{}), log}
}

// answer is what a caller sees of a response.
type answer struct {
	Status int
	Header http.Header
	Body   string
	Errors []struct {
		Message    string
		Path       []any
		Locations  []any
		Extensions map[string]any
	}
	Data       json.RawMessage
	Extensions map[string]any
}

func (s server) do(t *testing.T, r *http.Request) answer {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Body)
	a := answer{Status: w.Code, Header: w.Header(), Body: string(body)}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("the answer is not JSON: %v: %s", err, body)
	}
	return a
}

func post(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/graphql-response+json")
	r.Header.Set("Slipway-Cost", "true")
	return r
}

func get(values url.Values) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/graphql?"+values.Encode(), nil)
	r.Header.Set("Accept", "application/graphql-response+json")
	r.Header.Set("Slipway-Cost", "true")
	return r
}

// run posts a document with its variables, which are JSON.
func (s server) run(t *testing.T, query, variables string) answer {
	t.Helper()
	text, _ := json.Marshal(query)
	if variables == "" {
		variables = "null"
	}
	return s.do(t, post(`{"query":`+string(text)+`,"variables":`+variables+`}`))
}

// code is the code of the first error, empty without one.
func (a answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	code, _ := a.Errors[0].Extensions["code"].(string)
	return code
}
