package gqlhttp_test

import (
	"strings"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
)

func TestJSONReachesTheResolverAsItWasWritten(t *testing.T) {
	t.Parallel()
	const want = `"json":{"z":1.50,"a":[{"y":1e3,"b":null}],"c":"RED"}`
	for name, c := range map[string]struct{ query, variables string }{
		"a variable":        {`query($v: JSON) { echo(json: $v) }`, `{"v":{"z":1.50,"a":[{"y":1e3,"b":null}],"c":"RED"}}`},
		"a literal":         {`{ echo(json: {z: 1.50, a: [{y: 1e3, b: null}], c: RED}) }`, ``},
		"a default":         {`query($v: JSON = {z: 1.50, a: [{y: 1e3, b: null}], c: "RED"}) { echo(json: $v) }`, ``},
		"variables inside":  {`query($z: Float, $a: JSON, $c: Color) { echo(json: {z: $z, a: [$a], c: $c}) }`, `{"z":1.50,"a":{"y":1e3,"b":null},"c":"RED"}`},
		"a default inside":  {`query($z: Float = 1.50, $a: JSON = {y: 1e3, b: null}) { echo(json: {z: $z, a: [$a], c: RED}) }`, ``},
		"in a fragment":     {`query($a: JSON) { ...f } fragment f on Query { echo(json: {z: 1.50, a: [$a], c: RED}) }`, `{"a":{"y":1e3,"b":null}}`},
		"of its operation":  {`query a($a: JSON) { ...f } query b($a: Int) { ...f } fragment f on Query { echo(json: {z: 1.50, a: [$a], c: RED}) }`, `{"a":{"y":1e3,"b":null}}`},
		"without its value": {`query($none: Int) { echo(json: {z: 1.50, none: $none, a: [{y: 1e3, b: null}], c: RED}) }`, ``},
	} {
		s := newServer(gqlhttp.Config{})
		body := `{"query":` + quoted(c.query) + `,"variables":` + orNull(c.variables) + `}`
		if strings.Contains(c.query, "query b") {
			body = strings.Replace(body, `{`, `{"operationName":"a",`, 1)
		}
		if a := s.do(t, post(body)); !strings.Contains(a.Body, want) {
			t.Errorf("%s: %s", name, a.Body)
		}
	}
}

func TestAVariableInsideJSONIsOfItsType(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).run(t, `query($i: Int, $id: ID, $l: [Int], $in: Item, $n: Int) { echo(json: [$i, $id, $l, $in, $n]) }`,
		`{"i":1.0,"id":5,"l":7,"in":{"tags":"t","name":"a","count":1e1}}`)
	if want := `"json":[1,"5",[7],{"tags":["t"],"name":"a","count":10},null]`; !strings.Contains(a.Body, want) {
		t.Errorf("got %s, want %s", a.Body, want)
	}
}

func TestDefaultsOfVariablesAreCoerced(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).run(t, `query($i: [Int!] = 5, $in: Item = {name: "a", tags: "t"}, $id: ID = 7) { echo(ints: $i, item: $in, id: $id) }`, ``)
	for _, want := range []string{`"ints":[5]`, `"item":{"name":"a","tags":["t"]}`, `"id":"7"`} {
		if !strings.Contains(a.Body, want) {
			t.Errorf("got %s, want %s", a.Body, want)
		}
	}
}

func TestBytesThatAreNoUTF8AreRefusedInLiterals(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	for _, query := range []string{"{ echo(json: {a: \"\xff\"}) }", "{ echo(text: \"\xff\") }"} {
		a := s.do(t, get(map[string][]string{"query": {query}}))
		if a.code() != string(fault.DocumentValidationFailed) || !strings.Contains(a.Body, "A string must be UTF-8.") {
			t.Errorf("%q: %s", query, a.Body)
		}
	}
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

func orNull(variables string) string {
	if variables == "" {
		return "null"
	}
	return variables
}
