package executortest_test

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// everything asks for all that a schema can tell of itself.
const everything = `query($deprecated: Boolean = false) {
	__schema {
		description queryType { ...T } mutationType { ...T } subscriptionType { ...T } types { ...All }
		directives { name description isRepeatable locations args(includeDeprecated: $deprecated) { ...I } }
	}
	t: __type(name: "Deployment") { ...All } nothing: __type(name: "Nothing") { name }
}
fragment All on __Type {
	__typename kind name description specifiedByURL isOneOf interfaces { ...T } possibleTypes { ...T }
	fields(includeDeprecated: $deprecated) {
		name description isDeprecated deprecationReason type { ...T } args(includeDeprecated: $deprecated) { ...I }
	}
	inputFields(includeDeprecated: $deprecated) { ...I }
	enumValues(includeDeprecated: $deprecated) { name description isDeprecated deprecationReason }
}
fragment I on __InputValue { name description defaultValue isDeprecated deprecationReason type { ...T } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`

func TestBothExecutorsTellTheWholeSchema(t *testing.T) {
	t.Parallel()
	c := comparison{handlers: fabricated(1, work), asked: map[string]int{}}
	for _, deprecated := range []any{true, false, nil} {
		c.compare(t, written{everything, map[string]any{"deprecated": deprecated}}, ast.Query)
	}
	const least = 3 * 300_000
	if c.executed != 3 || c.failed != 0 || c.bytes < least {
		t.Errorf("%d executed, %d failed, %d bytes", c.executed, c.failed, c.bytes)
	}
	t.Logf("%d bytes", c.bytes)
}

// BenchmarkIntrospection tells the whole schema with each executor.
func BenchmarkIntrospection(b *testing.B) {
	c := comparison{handlers: fabricated(1, work)}
	for _, e := range []executor{plans, gqlgen} {
		b.Run(string(e), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.ask(b, e, written{text: everything}, ast.Query)
			}
		})
	}
}
