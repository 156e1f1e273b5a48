package gqlhttp_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
)

// atLimit has a document, or the value of $v, that has just n of what the limit counts.
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
		{"selections", 4000, "The document is over the limit \"selections\": at most 4000 selections, found more than 4000.", 0, 1, 2108},
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
	good := func(document.Value) error { return nil }
	for i, field := range reflect.VisibleFields(reflect.TypeFor[document.Limits]()) {
		name := strings.ToLower(field.Name[:1]) + field.Name[1:]
		if field.Type.Kind() != reflect.Int || name == "answer" { // whose bytes are counted as they are written
			continue
		}
		if atLimit[name] == nil {
			t.Errorf("atLimit has nothing for %s", name)
			continue
		}
		var low document.Limits
		reflect.ValueOf(&low).Elem().Field(i).SetInt(most)
		s := treeServer(gqlhttp.Config{Limits: low, Introspection: true, Scalars: map[string]document.Check{"JSON": good}})
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
