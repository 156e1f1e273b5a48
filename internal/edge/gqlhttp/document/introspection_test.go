package document_test

import (
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/introspection"

	"slipway/internal/edge/gqlhttp/document"
)

func TestTheSchemaIsIntrospectedOnceButNotManyTimes(t *testing.T) {
	t.Parallel()
	check := checker(served(t), document.Config{Introspection: true})
	const (
		types  = "__schema { types { name fields { name description type { name } args { name description } } } }"
		fields = "fields { type { name fields { name } } }"
		deep   = " fragment d on __Type { fields { type { ...t ofType { ...t } } } }" +
			" fragment f on __Field { name description args { name description } type { name } } fragment t on __Type { a: fields { ...f } b: fields { ...f } c: fields { ...f } }"
	)
	for query, isAllowed := range map[string]bool{
		introspection.Query: true,
		`{ ` + types + ` __type(name: "Query") { ` + fields + ` } }`:                    true,
		`query($id: String!) { __type(name: $id) { name ofType { name } } }`:            true,
		`query a { ` + types + ` } query b { ` + types + ` } query c { ` + types + ` }`: true,
		`{ __type(name: "Nothing") { ` + repeat(29, " f%d: "+fields) + ` } }`:           true,
		`{` + repeat(9, " s%d: "+types) + ` }`:                                          false,
		`{ ...f } fragment f on Query {` + repeat(9, " s%d: "+types) + ` }`:             false,
		`{ __schema { types { ... {` + repeat(29, " f%d: "+fields) + ` } } } }`:         false,
		`{` + repeat(27, ` t%d: __type(name: "Deployment") { ...d }`) + ` }` + deep:     false,
	} {
		const why = `over the limit "introspection": at most 50000 values of the schema, found more than 50000.`
		if err := check(query); isAllowed == (err != nil && strings.Contains(err.Error(), why)) {
			t.Errorf("%.120s: %v, want it allowed: %t", query, err, isAllowed)
		}
	}
}
