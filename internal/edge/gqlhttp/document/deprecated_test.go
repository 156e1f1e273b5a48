package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
)

// aged is a schema with a deprecated member of every sort.
var aged = gqlparser.MustLoadSchema(&ast.Source{Input: `
	interface Named { name: String  old: String @deprecated(reason: "Use name. Goes in 2.0.") }
	type Cat implements Named { name: String  old: String  lives(from: Color, to: Color @deprecated): Int }
	enum Color { RED PINK @deprecated(reason: "Use RED. Goes in 3.0.") }
	input In { color: Color  in: In  many: [In!]  tint: Color @deprecated(reason: "Use color. Goes in 2.0.") }
	type Query { cat(in: In, ins: [In!], colors: [Color!]): Cat  named: Named  pet: Cat @deprecated(reason: "Use cat. Goes in 2.0.") }
`})

func TestWhatIsDeprecatedOfAnOperationIsFound(t *testing.T) {
	t.Parallel()
	documents := document.New(aged, document.Config{Limits: document.Limits{FreeInputs: []string{"In"}}})
	for _, c := range []struct{ query, variables, want string }{
		{`{ cat { name lives(from: RED) } named { name } }`, ``, ``},
		{`{ pet { name } p: pet { name } }`, ``, `Query.pet`},
		{`{ named { old } cat { old } }`, ``, `Named.old`},
		{`{ ...f ...f } fragment f on Query { ... { pet { ...g } } named { ... on Cat { ...g } } } fragment g on Cat { lives(to: PINK) }`, ``,
			`Cat.lives(to:) Color.PINK Query.pet`},
		{`{ cat(in: {tint: RED, in: {many: [{color: PINK}]}}) { name } }`, ``, `Color.PINK In.tint`},
		{`{ cat(colors: PINK) { name } }`, ``, `Color.PINK`},
		{`query($c: Color = PINK) { cat { lives(from: $c) } }`, ``, `Color.PINK`},
		{`query($c: Color) { cat { lives(from: $c) } }`, `{"c":"RED"}`, ``},
		{`query($c: Color) { cat { lives(from: $c) } }`, `{"c":"PINK"}`, `Color.PINK`},
		{`query($i: In) { cat(in: $i) { name } }`, `{"i":{"color":"RED","in":null}}`, ``},
		{`query($i: In) { cat(in: $i) { name } }`, `{"i":{"__typename":"In","many":[{"tint":"RED"}]}}`, `In.tint`},
		{`query($i: [In!]) { cat(ins: $i) { name } }`, `{"i":{"tint":"PINK"}}`, `Color.PINK In.tint`},
		{`query($c: [Color!]) { pet { name } cat(colors: $c) { name } }`, `{"c":["RED","PINK"]}`, `Color.PINK Query.pet`},
	} {
		for range 2 { // the second time it is kept
			if got := deprecatedIn(t, documents, c.query, c.variables); got != c.want {
				t.Errorf("%s %s uses %q, want %q", c.query, c.variables, got, c.want)
			}
		}
	}
}

func TestEachOperationHasWhatItUsesItself(t *testing.T) {
	t.Parallel()
	documents := document.New(aged, document.Config{})
	doc, errs := documents.Get(`query a { pet { name } } query b { cat { name } }`)
	if errs != nil {
		t.Fatal(errs)
	}
	for name, want := range map[string]int{"a": 1, "b": 0} {
		op, _ := doc.Operation(name)
		if got := documents.Deprecated(doc, op, nil); len(got) != want {
			t.Errorf("%s uses %v", name, got)
		}
	}
}

func TestADeprecationHasItsReason(t *testing.T) {
	t.Parallel()
	documents := document.New(aged, document.Config{})
	doc, errs := documents.Get(`{ pet { lives(to: PINK) } }`)
	if errs != nil {
		t.Fatal(errs)
	}
	const want = `[{Cat.lives(to:) No longer supported} {Color.PINK Use RED. Goes in 3.0.} {Query.pet Use cat. Goes in 2.0.}]`
	if got := fmt.Sprint(documents.Deprecated(doc, doc.Operations[0], nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// deprecatedIn returns the coordinates of what the one operation of a document uses with variables.
func deprecatedIn(t *testing.T, documents *document.Documents, query, variables string) string {
	t.Helper()
	doc, errs := documents.Get(query)
	if errs != nil {
		t.Fatalf("%s: %v", query, errs)
	}

	raw := map[string]any{}
	if variables != "" {
		given := strictjson.MustParse(variables)
		for i, name := range given.Keys {
			raw[name] = given.Items[i]
		}
	}
	if _, errs := documents.Coerce(doc, doc.Operations[0], raw); errs != nil {
		t.Fatalf("%s %s: %v", query, variables, errs)
	}

	var found []string
	for _, d := range documents.Deprecated(doc, doc.Operations[0], raw) {
		found = append(found, d.Field)
	}
	return strings.Join(found, " ")
}
