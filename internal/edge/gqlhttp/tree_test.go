package gqlhttp_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/edge/gqlhttp"
)

// treeSchema is the schema that package document is tested with.
var treeSchema = func() *ast.Schema {
	text, err := os.ReadFile("document/testdata/tree.graphql")
	if err != nil {
		panic(err)
	}
	return gqlparser.MustLoadSchema(&ast.Source{Input: string(text)})
}()

func treeServer(config gqlhttp.Config) server {
	return server{Handler: gqlhttp.NewServer(toy{treeSchema}, config, gqlhttp.HTTP{})}
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
