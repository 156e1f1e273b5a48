package plan_test

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/graph/plan"
)

// ages has something deprecated of every sort, and a type of every kind.
const ages = `
	interface Named { name: String }
	type Query implements Named { name: String  old(a: Int, b: Int @deprecated): Both @deprecated  sort: Sort  new(in: In): String }
	union Both = Query
	enum Sort { A B @deprecated C @deprecated(reason: "No.") }
	input In { x: Int  y: Int @deprecated  z: Int = 1 @deprecated(reason: "Gone.") }
`

func TestIntrospectionAnswersAsTheSpecificationSays(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: ages})
	query := &plan.Object{Name: "Query", Fields: map[string]*plan.Field{}}
	e := executor.New(plan.NewSchema(schema, plan.Options{}, plan.Generated{Query: query}))
	const all = "fields { name } interfaces { name } possibleTypes { name } enumValues { name } inputFields { name } isOneOf ofType { name } specifiedByURL"
	const reasons = "(includeDeprecated: true) { name isDeprecated deprecationReason }"
	for query, want := range map[string]string{
		`t: __type(name: "Query") { ` + all + ` }`: `{"fields":[{"name":"name"},{"name":"sort"},{"name":"new"}],"interfaces":[{"name":"Named"}],` +
			`"possibleTypes":null,"enumValues":null,"inputFields":null,"isOneOf":null,"ofType":null,"specifiedByURL":null}`,
		`t: __type(name: "Named") { ` + all + ` }`: `{"fields":[{"name":"name"}],"interfaces":[],"possibleTypes":[{"name":"Query"}],` +
			`"enumValues":null,"inputFields":null,"isOneOf":null,"ofType":null,"specifiedByURL":null}`,
		`t: __type(name: "Both") { ` + all + ` }`: `{"fields":null,"interfaces":null,"possibleTypes":[{"name":"Query"}],` +
			`"enumValues":null,"inputFields":null,"isOneOf":null,"ofType":null,"specifiedByURL":null}`,
		`t: __type(name: "Sort") { ` + all + ` }`: `{"fields":null,"interfaces":null,"possibleTypes":null,"enumValues":[{"name":"A"}],` +
			`"inputFields":null,"isOneOf":null,"ofType":null,"specifiedByURL":null}`,
		`t: __type(name: "In") { ` + all + ` }`: `{"fields":null,"interfaces":null,"possibleTypes":null,"enumValues":null,` +
			`"inputFields":[{"name":"x"}],"isOneOf":false,"ofType":null,"specifiedByURL":null}`,
		`t: __type(name: "Int") { ` + all + ` }`: `{"fields":null,"interfaces":null,"possibleTypes":null,"enumValues":null,` +
			`"inputFields":null,"isOneOf":null,"ofType":null,"specifiedByURL":null}`,
		`t: __type(name: "Nothing") { name }`: `null`,
		`t: __type(name: "In") { none: inputFields(includeDeprecated: false) { n: name } inputFields` + reasons + ` }`: `{"none":[{"n":"x"}],"inputFields":[` +
			`{"name":"x","isDeprecated":false,"deprecationReason":null},{"name":"y","isDeprecated":true,"deprecationReason":"No longer supported"},` +
			`{"name":"z","isDeprecated":true,"deprecationReason":"Gone."}]}`,
		`t: __type(name: "Sort") { enumValues` + reasons + ` }`: `{"enumValues":[{"name":"A","isDeprecated":false,"deprecationReason":null},` +
			`{"name":"B","isDeprecated":true,"deprecationReason":"No longer supported"},{"name":"C","isDeprecated":true,"deprecationReason":"No."}]}`,
		`t: __type(name: "Query") { fields(includeDeprecated: true) { name deprecationReason args { name } every: args(includeDeprecated: true) { name } } }`: `{"fields":[` +
			`{"name":"name","deprecationReason":null,"args":[],"every":[]},` +
			`{"name":"old","deprecationReason":"No longer supported","args":[{"name":"a"}],"every":[{"name":"a"},{"name":"b"}]},` +
			`{"name":"sort","deprecationReason":null,"args":[],"every":[]},{"name":"new","deprecationReason":null,"args":[{"name":"in"}],"every":[{"name":"in"}]}]}`,
	} {
		if got, want := execute(t.Context(), e, "{ "+query+" }", nil), `{"t":`+want+"}"; got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
}

func TestASchemaTellsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	const document = `query($name: String!) {
		__schema { __typename description queryType { name } mutationType { name } directives { name isRepeatable args { name defaultValue } } }
		titles
		item: __type(name: $name) { kind possibleTypes { ... on __Type { name } } }
	}`
	want := `{"__schema":{"__typename":"__Schema","description":null,"queryType":{"name":"Query"},"mutationType":null,"directives":[` +
		`{"name":"defer","isRepeatable":false,"args":[{"name":"if","defaultValue":"true"},{"name":"label","defaultValue":null}]},` +
		`{"name":"deprecated","isRepeatable":false,"args":[{"name":"reason","defaultValue":"\"No longer supported\""}]},` +
		`{"name":"include","isRepeatable":false,"args":[{"name":"if","defaultValue":null}]},` +
		`{"name":"oneOf","isRepeatable":false,"args":[]},` +
		`{"name":"skip","isRepeatable":false,"args":[{"name":"if","defaultValue":null}]},` +
		`{"name":"specifiedBy","isRepeatable":false,"args":[{"name":"url","defaultValue":null}]}]},` +
		`"titles":["Woolf"],"item":{"kind":"UNION","possibleTypes":[{"name":"Book"},{"name":"Author"}]}}`
	e := newExecutor(library{titles: []*string{&woolf.name}}, plan.Options{})
	if got := execute(t.Context(), e, document, map[string]any{"name": "Item"}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestIntrospectionThatIsOffIsRefused(t *testing.T) {
	t.Parallel()
	e := newExecutor(library{titles: []*string{&woolf.name}}, plan.Options{})
	ctx := graphql.StartOperationTrace(t.Context())
	operation, errs := e.CreateOperationContext(ctx, &graphql.RawParams{Query: `{ titles a: __schema { description } b: __type(name: "Item") { name } }`})
	if errs != nil || !operation.DisableIntrospection {
		t.Fatalf("%v, or introspection is on", errs)
	}
	const want = `{"titles":["Woolf"],"a":null,"b":null}` + "\ninput:1:10: a introspection disabled\ninput:1:38: b introspection disabled"
	if got := respond(ctx, e, operation); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
