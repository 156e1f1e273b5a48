package gqlhttp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"slipway/internal/fault"
	"slipway/internal/gqlhttp"
	"slipway/internal/gqlhttp/document"
)

// treeSchema has what limits are about: objects in objects, pages, inputs in inputs.
var treeSchema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	scalar JSON
	interface Animal { id: ID! mother: Animal friend(name: String): Animal }
	type Cat implements Animal { herd(first: Int): Herd id: ID! mother: Animal friend(name: String): Animal lives: Int name: String }
	type Dog implements Animal { id: ID! mother: Animal friend(name: String): Animal lives: String name: String }
	type Owl implements Animal { id: ID! mother: Animal friend(name: String): Animal }
	union Pet = Cat | Dog
	type Herd { nodes: [Animal!]! }
	input Nest { in: Nest list: [Nest] free: Free json: JSON }
	input Free { in: Free }
	type Query {
		cat: Cat
		pet: Pet
		herd(first: Int, last: Int): Herd!
		nodes(ids: [ID!]!): [Animal]!
		take(nest: Nest, nests: [Nest], free: Free, json: JSON): JSON
	}
	type Mutation { grow: Cat set: JSON }
	type Subscription { ticks(n: Int): Int cats: Cat }
`})

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

// chain spreads fragment 0, and each fragment what the format makes of the next one's number.
func chain(n int, format string) string {
	var b strings.Builder
	b.WriteString("{ ...f0 }")
	for i := range n {
		fmt.Fprintf(&b, " fragment f%d on Query { "+format+" }", i, i+1)
	}
	fmt.Fprintf(&b, " fragment f%d on Query { __typename }", n)
	return b.String()
}

// atLimit gives a document, or the value of $v, that has just n of what the limit counts.
var atLimit = map[string]func(n int) string{
	"tokens":     func(n int) string { return "{" + strings.Repeat(" __typename", n-2) + "}" },
	"brackets":   func(n int) string { return "{ take(json: " + nested(n-2, "[", "", "]") + ") }" },
	"directives": func(n int) string { return "{" + strings.Repeat(" __typename @skip(if: false)", n) + " }" },
	"depth":      func(n int) string { return "{ cat " + nested(n-2, "{ mother ", "{ id }", "}") + " }" },
	"aliases":    func(n int) string { return "{" + repeat(n, " a%d: __typename") + " }" },
	"selections": func(n int) string {
		return "{" + strings.Repeat(" ...f", n/10-1) + strings.Repeat(" __typename", n%10+10) + " } fragment f on Query {" + strings.Repeat(" __typename", 9) + " }"
	},
	"fragments":     func(n int) string { return "{ ...f } fragment f on Query {" + strings.Repeat(" __typename", n) + " }" },
	"merging":       func(n int) string { return "{" + strings.Repeat(" __typename", (n+1)/2) + " }" }, // each is looked at twice
	"introspection": func(n int) string { return "{ __schema { queryType {" + strings.Repeat(" name", n-3) + " } } }" },
	"repeats":       func(n int) string { return "query($v: JSON) { take(json: [" + strings.Repeat(" $v", n) + " ]) }" },
	"variableDepth": func(n int) string { return nested(n-1, `{"in":`, "{}", "}") },
	"cost":          func(n int) string { return fmt.Sprintf("{ herd(first: %d) { nodes { id @skip(if: true) } } }", n-2) },
}

func (s server) atLimit(t *testing.T, name string, n int) answer {
	t.Helper()
	if name == "variableDepth" {
		return s.run(t, `query($v: Nest) { take(nest: $v) }`, `{"v":`+atLimit[name](n)+`}`)
	}
	return s.run(t, atLimit[name](n), "")
}

func TestALimitIsTheMostThatIsTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit   string
		most    int
		message string
		found   int
		line    int
		column  int
	}{
		{"tokens", 1000, "The document is over the limit \"tokens\": at most 1000 tokens, found more than 1000.", 0, 1, 10991},
		{"brackets", 64, "The document is over the limit \"brackets\": at most 64 levels of brackets, found more than 64.", 0, 1, 76},
		{"directives", 50, "The document is over the limit \"directives\": at most 50 directives, found more than 50.", 0, 1, 1414},
		{"depth", 12, "The document is over the limit \"depth\": at most 12 levels of fields, found 13.", 13, 1, 108},
		{"aliases", 30, "The document is over the limit \"aliases\": at most 30 aliases, found more than 30.", 0, 1, 473},
		{"selections", 1000, "The document is over the limit \"selections\": at most 1000 selections, found more than 1000.", 0, 1, 608},
		{"variableDepth", 32, "Variable \"$v" + strings.Repeat(".in", 32) + "\" is over the limit \"variableDepth\": at most 32 levels of lists and objects, found 33.", 33, 1, 7},
		{"cost", 10_000, "The operation is over the limit \"cost\": at most 10000 (--max-cost), found 10001. Most of it is herd.nodes, which counts 9999 items, each 1. Ask for smaller pages with first or last, or for less in one operation.", 10_001, 1, 1},
	} {
		s := treeServer(gqlhttp.Config{})
		if a := s.atLimit(t, c.limit, c.most); a.Status != 200 || len(a.Errors) > 0 {
			t.Errorf("%d %s: %d %s", c.most, c.limit, a.Status, a.Body)
		}
		a := s.atLimit(t, c.limit, c.most+1)
		metadata := map[string]any{"limit": c.limit, "value": float64(c.most)}
		if c.found > 0 {
			metadata["found"] = float64(c.found)
		}
		if c.limit == "cost" {
			metadata["path"] = "herd.nodes"
		}
		want := map[string]any{"code": "slipway:Document:LIMIT_EXCEEDED", "metadata": metadata}
		if a.Status != 400 || len(a.Errors) != 1 || a.Errors[0].Message != c.message || strings.Contains(a.Body, `"data"`) {
			t.Errorf("%d %s: %d %s", c.most+1, c.limit, a.Status, a.Body)
			continue
		}
		if diff := cmp.Diff(want, a.Errors[0].Extensions); diff != "" {
			t.Errorf("%s: %s", c.limit, diff)
		}
		place := []any{map[string]any{"line": float64(c.line), "column": float64(c.column)}}
		if diff := cmp.Diff(place, a.Errors[0].Locations); diff != "" {
			t.Errorf("%s: %s", c.limit, diff)
		}
	}
}

func TestLimitsCanBeChosen(t *testing.T) {
	t.Parallel()
	const most = 22
	low := map[string]document.Limits{
		"tokens": {Tokens: most}, "brackets": {Brackets: most}, "directives": {Directives: most}, "depth": {Depth: most},
		"aliases": {Aliases: most}, "selections": {Selections: most}, "fragments": {Fragments: most}, "merging": {Merging: most},
		"introspection": {Introspection: most}, "repeats": {Repeats: most}, "variableDepth": {VariableDepth: most}, "cost": {Cost: most},
	}
	good := func(document.Value) error { return nil }
	for _, name := range slices.Sorted(maps.Keys(atLimit)) {
		s := treeServer(gqlhttp.Config{Limits: low[name], Introspection: true, Scalars: map[string]document.Check{"JSON": good}})
		if a := s.atLimit(t, name, most); a.Status != 200 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if a := s.atLimit(t, name, most+1); a.code() != string(fault.DocumentLimitExceeded) || !strings.Contains(a.Body, `"limit":"`+name+`"`) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestNoLimitCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{Limits: document.Limits{Aliases: -1, Cost: -1}})
	for name, n := range map[string]int{"aliases": 31, "cost": 10_001} {
		if a := s.atLimit(t, name, n); a.code() != string(fault.DocumentLimitExceeded) {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
}

func TestTextInStringsAndCommentsIsNoBracket(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("{[(@", 100)
	for _, query := range []string{
		`{ take(json: "` + many + `\"` + many + `") }`, `{ take(json: """` + many + ` \""" ` + many + `""") }`, "{ __typename } # " + many,
	} {
		if a := treeServer(gqlhttp.Config{}).run(t, query, ""); a.Status != 200 {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
}

func TestCommentsAreTokens(t *testing.T) {
	t.Parallel()
	if a := treeServer(gqlhttp.Config{}).run(t, "{ __typename }"+strings.Repeat("\n#", 1000), ""); a.code() != string(fault.DocumentLimitExceeded) {
		t.Error(a.Body)
	}
}

func TestIntrospectionNestsAsDeepAsItHasTo(t *testing.T) {
	t.Parallel()
	query := "{ __schema { types { fields { type " + nested(12, "{ ofType ", "{ name }", "}") + " } } } }"
	a := treeServer(gqlhttp.Config{Introspection: true}).run(t, query, "")
	if a.Status != 200 || a.Extensions["cost"].(map[string]any)["used"] != 8.0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestFragmentsCountForTheirLimits(t *testing.T) {
	t.Parallel()
	deep := "{ cat { ...f } } fragment f on Animal " + nested(11, "{ mother ", "{ id }", "}")
	unused := "{ __typename } fragment f on Animal " + nested(12, "{ mother ", "{ id }", "}")
	aliases := "{ ...f ...f ...f } fragment f on Query {" + repeat(15, " a%d: __typename") + " }"
	s := treeServer(gqlhttp.Config{})
	for name, query := range map[string]string{"deep": deep, "unused": unused} {
		if a := s.run(t, query, ""); a.code() != string(fault.DocumentLimitExceeded) || !strings.Contains(a.Body, `"limit":"depth"`) {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	if a := s.run(t, aliases, ""); a.Status != 200 {
		t.Errorf("an alias counts once, however often its fragment is spread: %s", a.Body)
	}
}

func TestLongRowsOfFragmentsAreRefused(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{})
	if a := s.run(t, chain(80, "...f%[2]d"), ""); a.Status != 200 {
		t.Error(a.Body)
	}
	a := s.run(t, chain(100, "...f%[2]d"), "")
	if a.code() != string(fault.DocumentLimitExceeded) || !strings.Contains(a.Body, `"metadata":{"limit":"fragments","value":4000}`) {
		t.Error(a.Body)
	}
}

func TestFragmentsInACircleAreRefusedAsSuch(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{})
	for _, query := range []string{
		`{ ...a } fragment a on Query { ...a }`,
		`{ ...a } fragment a on Query { ...b } fragment b on Query { ...c __typename } fragment c on Query { ...a ...b }`,
		`{ cat { ...a } } fragment a on Animal { mother { ...a } friend { ...a } }`,
		`{ cat { id } } fragment a on Animal { mother { ...b } } fragment b on Animal { friend { ...a } }`,
	} {
		if a := s.run(t, query, ""); a.code() != string(fault.DocumentValidationFailed) || !strings.Contains(a.Body, "within itself") {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
}

func TestSomeVariablesNestAsDeepAsTheirDecodersLike(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{Limits: document.Limits{FreeInputs: []string{"Free"}}})
	deep := nested(59, `{"in":`, "{}", "}")
	for name, variables := range map[string]string{
		"json": `{"n":{"json":` + deep + `}}`, "free": `{"f":` + deep + `}`, "free in another": `{"n":{"free":` + deep + `}}`,
	} {
		if a := s.run(t, `query($n: Nest, $f: Free) { take(nest: $n, free: $f) }`, variables); a.Status != 200 {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
	for name, variables := range map[string]string{
		"typed":               `{"n":` + deep + `}`,
		"lists in objects":    `{"n":` + nested(17, `{"list":[`, "{}", "]}") + `}`,
		"objects in lists":    `{"l":` + nested(17, `[{"list":`, "[]", "}]") + `}`,
		"typed beside a free": `{"f":` + deep + `,"n":` + deep + `}`,
	} {
		a := s.run(t, `query($f: Free, $n: Nest, $l: [Nest]) { take(free: $f, nest: $n, nests: $l) }`, variables)
		if a.code() != string(fault.DocumentLimitExceeded) || len(a.Errors[0].Path) != 2+32 {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
}

func TestValidationEndsWhenThereIsEnoughToMend(t *testing.T) {
	t.Parallel()
	a := treeServer(gqlhttp.Config{Introspection: true}).run(t, "{"+repeat(500, " caat%d")+" }", "")
	if n := len(a.Errors); n != 21 || a.Errors[20].Message != "There may be more errors; validation ended after 20." {
		t.Errorf("%d errors: %s", n, a.Body)
	}
}

func TestNamesLikeALongOneAreNotLookedFor(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{Introspection: true})
	if a := s.run(t, "{ caat }", ""); !strings.Contains(a.Body, "Did you mean") {
		t.Error(a.Body)
	}
	if a := s.run(t, "{ caat ca"+strings.Repeat("a", 60)+"t }", ""); strings.Contains(a.Body, "Did you mean") {
		t.Error(a.Body)
	}
}
