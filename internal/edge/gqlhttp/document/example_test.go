package document_test

import (
	"fmt"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
)

// What comes before an operation is executed: its document, its variables, its cost.
func Example() {
	documents := document.New(gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { cats(first: Int): Cats }
		type Cats { nodes: [Cat!]! }
		type Cat { name: String, mother: Cat }
	`}), document.Config{Limits: document.Limits{Depth: 5}})

	doc, _ := documents.Get(`query kittens($n: Int!) { cats(first: $n) { nodes { mother { name } } } }`)
	op, _ := doc.Operation("kittens")

	_, errs := documents.Coerce(doc, op, nil)
	fmt.Println(errs[0].Message)

	ten := &strictjson.Node{Kind: strictjson.Number, Text: "10"}
	variables, _ := documents.Coerce(doc, op, map[string]any{"n": ten})
	fmt.Printf("it costs %.1f\n", documents.Cost(doc, op, variables).Total)

	_, errs = documents.Get(`{ cats { nodes { mother { mother { mother { name } } } } } }`)
	fmt.Println(errs[0].Message)
	// Output:
	// slipway:Document:VARIABLES_INVALID: Variable "$n" must be given, as Int!.
	// it costs 23.0
	// slipway:Document:LIMIT_EXCEEDED: The document is over the limit "depth": at most 5 levels of fields, found 6.
}
