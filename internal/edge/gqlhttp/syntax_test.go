package gqlhttp_test

import (
	"fmt"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
)

func TestASyntaxErrorHasItsReasonAndPlace(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	for _, c := range []struct{ query, at, message string }{
		{`{ echo(int: 5after: null) }`, "1:14", `Invalid number: 5 must not be followed directly by "after".`},
		{`{ echo(ints: [0xF]) }`, "1:16", `Invalid number: 0 must not be followed directly by "xF".`},
		{`{ echo(ints: [1a]) }`, "1:16", `Invalid number: 1 must not be followed directly by "a".`},
		{`{ echo(float: -1.5e3_) }`, "1:21", `Invalid number: -1.5e3 must not be followed directly by "_".`},
		{`{ echo(float: 1.5...) }`, "1:18", `Invalid number: 1.5 must not be followed directly by "...".`},
		{`{ echo(float: 1.2.3) }`, "1:18", `Cannot parse the unexpected character ".".`},
		{`{ echo(text: "a) }`, "1:19", `Unterminated string.`},
		{"{ echo(text: \"a\n\") }", "1:16", `Unterminated string.`},
		{`{ echo(text: "\x") }`, "1:16", `Invalid character escape sequence: \x.`},
		{`{ echo(text: "é\x") }`, "1:17", `Invalid character escape sequence: \x.`},
		{`{ echo(text: 'a') }`, "1:14", `Unexpected single quote character ('), did you mean to use a double quote (")?`},
		{"{ echo \u0007 }", "1:8", `Cannot contain the invalid character "\u0007"`},
		{`{ é }`, "1:3", `Cannot parse the unexpected character 'é'.`},
		{"# é\n{ é\u00a0}", "2:3", `Cannot parse the unexpected character 'é'.`},
		{"{ echo\u00a0}", "1:7", `Cannot parse the unexpected character '\u00a0'.`},
		{`{ echo( ] "a }`, "1:9", `Expected Name, found ]`},
		{`{ echo(int: 1 ] int: 1a }`, "1:15", `Expected Name, found ]`},
		{`{ }`, "1:3", `A selection set must select something, found {}.`},
		{"{ echo(item: {}) { # nothing\n } }", "2:2", `A selection set must select something, found {}.`},
		{`{ echo() }`, "1:8", `Arguments and variables must be left out with their parentheses, found ().`},
		{`query() { echo }`, "1:7", `Arguments and variables must be left out with their parentheses, found ().`},
		{`{ ...A } fragment A($n: Int = 1) on Query { echo(int: $n) }`, "1:21", `Fragment "A" must not define variables; operations do.`},
	} {
		a := s.run(t, c.query, "")
		if a.code() != string(fault.DocumentParseFailed) || len(a.Errors) != 1 || a.Status != 400 {
			t.Errorf("%s: %d %s", c.query, a.Status, a.Body)
			continue
		}
		at := a.Errors[0].Locations[0].(map[string]any)
		if found := fmt.Sprint(at["line"], ":", at["column"]); found != c.at || a.Errors[0].Message != c.message {
			t.Errorf("%s: want %s %s, found %s %s", c.query, c.at, c.message, found, a.Errors[0].Message)
		}
	}
}

func TestNumbersEndWhereSomethingElseMayBegin(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	for _, query := range []string{
		`{ echo(int: 5,text: null) }`, `{ echo(ints: [1-2"3"]) }`, "{ echo(int: 5#a\n) }", "{ echo(int: 5\ntext: null) }", `{ echo(int:5text:"") }`,
	} {
		a := s.run(t, query, "")
		if parsed := a.code() != string(fault.DocumentParseFailed); parsed == (query == `{ echo(int:5text:"") }`) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}
