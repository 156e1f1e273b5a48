package document_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
)

// served returns the schema that the program serves.
func served(tb testing.TB) *ast.Schema {
	tb.Helper()
	return schema(tb, "../../../../schema.graphql")
}

// tree returns a schema of objects in objects, pages, and inputs in inputs.
func tree(tb testing.TB) *ast.Schema {
	tb.Helper()
	return schema(tb, "testdata/tree.graphql")
}

func schema(tb testing.TB, file string) *ast.Schema {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return gqlparser.MustLoadSchema(&ast.Source{Input: string(text)})
}

// checker returns a function that does with a document all that comes before its execution.
func checker(schema *ast.Schema, config document.Config) func(query string) error {
	documents := document.New(schema, config)
	most := config.Limits.WithDefaults().Cost
	return func(query string) error {
		doc, errs := documents.Get(query)
		if errs != nil {
			return errs
		}
		op, refused := doc.Operation("")
		if refused != nil {
			return gqlerror.List{refused}
		}
		variables, errs := documents.Coerce(doc, op, map[string]any{"id": &strictjson.Node{Kind: strictjson.String, Text: "dep_1"}})
		if errs != nil {
			return errs
		}
		if cost := documents.Cost(doc, op, variables); meter.Round(cost.Total) > most {
			return cost.Exceeded(most)
		}
		return nil
	}
}

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func nested(n int, open, middle, end string) string {
	return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
}
