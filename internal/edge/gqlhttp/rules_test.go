package gqlhttp_test

import (
	"strings"
	"sync"
	"testing"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/document"
)

func TestDocumentsThatTheLibraryTakesAreRefused(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		`{ echo(int: 2147483648) }`, `{ echo(int: -2147483649) }`, `{ echo(int: 9223372036854775808) }`,
		`{ echo(ints: [1, 2147483648]) }`, `{ echo(item: {name: "a", count: 2147483648}) }`, `query($v: Int = 2147483648) { echo(int: $v) }`,
		`{ echo(text: "\ud800") }`, `{ echo(text: "a\udc00b") }`, `{ echo(text: "\ud800\u0041") }`, `{ echo(text: "\udc00\ud800") }`,
		`{ echo(text: "\ud83d\ude00 \ud83d") }`, `{ echo(json: {a: ["\uDBFF"]}) }`, "# é\n{ a: echo(text: \"é\") b: echo(text: \"\\ud800\") }",
		`{ ... @defer { __typename } }`, `{ ...f @defer(if: false) } fragment f on Query { __typename }`,
		`{ __schema { types { name } } }`, `{ a: __type(name: "Query") { name } }`, `{ echo(sure: null) }`,
	} {
		a := newServer(gqlhttp.Config{}).run(t, query, "")
		if a.code() != string(fault.DocumentValidationFailed) || len(a.Errors[0].Locations) == 0 {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

func TestDeferIsNoDirectiveOfAnySchema(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).run(t, `{ ... @defer { __typename } }`, "")
	if a.code() != string(fault.DocumentValidationFailed) || a.Errors[0].Message != `Unknown directive "@defer".` {
		t.Error(a.Body)
	}
	if toySchema.Directives["defer"] == nil || document.StandardSchema(toySchema).Directives["defer"] != nil {
		t.Error("StandardSchema changes its argument, or not its result")
	}
}

func TestASubscriptionHasOneFieldWhateverItsVariables(t *testing.T) {
	t.Parallel()
	s := treeServer(gqlhttp.Config{})
	for query, want := range map[string]string{
		`subscription { ticks cats { id } }`:                                             `A subscription must select one field; found \"cats\" beside \"ticks\".`,
		`subscription { a: ticks b: ticks }`:                                             `found \"b\" beside \"a\"`,
		`subscription { ticks ...f } fragment f on Subscription { ... { cats { id } } }`: `found \"cats\" beside \"ticks\"`,
		`subscription { __typename }`:                                                    "must not select __typename at its root",
		`subscription { ticks x: __typename }`:                                           "must not select __typename at its root",
		`subscription { __schema { __typename } }`:                                       "",
		`subscription { ticks @skip(if: true) }`:                                         "must not have @skip at its root",
		`subscription { ticks @include(if: false) }`:                                     "must not have @include at its root",
		`subscription($v: Boolean!) { ticks @include(if: $v) }`:                          "must not have @include at its root",
		`subscription { ... @skip(if: false) { ticks } }`:                                "must not have @skip at its root",
		`subscription { ...f @skip(if: true) } fragment f on Subscription { ticks }`:     "must not have @skip at its root",
		`subscription { ...f } fragment f on Subscription { ticks @skip(if: true) }`:     "must not have @skip at its root",
	} {
		if a := s.run(t, query, `{"v":true}`); a.code() != string(fault.DocumentValidationFailed) || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %s, want %s", query, a.Body, want)
		}
	}
	for _, query := range []string{
		`subscription { cats { id name @skip(if: true) __typename } }`, `subscription { a: ticks a: ticks }`,
		`subscription { ticks ...f ...f } fragment f on Subscription { ... { ticks } }`,
	} {
		if a := s.run(t, query, ""); a.code() != string(fault.RequestNotAcceptable) {
			t.Errorf("%s: %s", query, a.Body)
		}
	}
}

func TestSuggestionsGoWithIntrospection(t *testing.T) {
	t.Parallel()
	for kind, query := range map[string]string{
		"field":              `{ ecko }`,
		"argument":           `{ echo(colr: RED) }`,
		"directive argument": `{ echo @skip(iff: true, if: true) }`,
		"enum value":         `{ echo(color: GREE) }`,
		"input field":        `{ echo(item: {name: "a", cuont: 1}) }`,
		"one-of field":       `{ echo(pick: {txet: "a"}) }`,
		"fragment's type":    `{ ...f } fragment f on Quer { __typename }`,
	} {
		if a := newServer(gqlhttp.Config{Introspection: true}).run(t, query, ""); !strings.Contains(a.Body, "Did you mean") {
			t.Errorf("%s, on: %s", kind, a.Body)
		}
		if a := newServer(gqlhttp.Config{}).run(t, query, ""); a.Status != 400 || strings.Contains(a.Body, "Did you mean") {
			t.Errorf("%s, off: %s", kind, a.Body)
		}
	}
	const inline = `{ pet { lives } cat { mother { name } } }`
	if a := treeServer(gqlhttp.Config{Introspection: true}).run(t, inline, ""); !strings.Contains(a.Body, "inline fragment on") {
		t.Error(a.Body)
	}
	if a := treeServer(gqlhttp.Config{}).run(t, inline, ""); a.Status != 400 || strings.Contains(a.Body, "inline fragment on") {
		t.Error(a.Body)
	}
}

func TestDocumentsAtTheEdgeAreTaken(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		`{ echo(int: 2147483647) }`, `{ echo(int: -2147483648) }`, `{ echo(float: 2147483648) }`, `{ echo(id: 2147483648) }`, `{ echo(json: 2147483648) }`,
		`{ echo(text: "\ud83d\ude00") }`, `{ echo(text: "\uFFFD \ud83d\ude00 \uFFFD") }`, "{ echo(text: \"\uFFFD \\\\ud800\") }", `{ echo(text: "\u{1F600}\uFFFD") }`,
		"{ a: echo(text: \"\uFFFD\") b: echo(text: \"\\ud83d\\ude00\") }", `{ echo(text: """\ud800""") }`,
	} {
		if a := newServer(gqlhttp.Config{}).run(t, query, ""); a.Status != 200 || len(a.Errors) > 0 {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

func TestWholeNumbersBeyond64BitsReachIDsAndFloats(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	for query, want := range map[string]string{
		`{ echo(id: 9223372036854775808) }`:                             `{"echo":{"id":"9223372036854775808","sure":false}}`,
		`{ echo(float: 100000000000000000000) }`:                        `{"echo":{"float":100000000000000000000,"sure":false}}`,
		`query($v: Float = -100000000000000000000) { echo(float: $v) }`: `{"echo":{"float":-100000000000000000000,"sure":false}}`,
		`{ echo(id: 1) }`: `{"echo":{"id":"1","sure":false}}`,
		`{ ...f ...f } fragment f on Query { echo(id: 9223372036854775808) }`: `{"echo":{"id":"9223372036854775808","sure":false}}`,
	} {
		for range 2 { // the second time as a kept document
			if a := s.run(t, query, ""); string(a.Data) != want {
				t.Errorf("%s: %s, want %s", query, a.Body, want)
			}
		}
	}
	if a := s.run(t, `{ echo(id: 1) echo(id: "1") }`, ""); a.code() != string(fault.DocumentValidationFailed) {
		t.Errorf("a number and a text are two arguments: %s", a.Body)
	}
}

func TestADocumentHasTheSameErrorsEveryTime(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{Documents: 2})
	var callers sync.WaitGroup
	for range 4 {
		for _, n := range []string{"1", "2", "3"} {
			callers.Go(func() {
				if a := s.run(t, `query a($v: Int) { echo(int: $v) } query b { echo(int: `+n+`) }`, ""); a.Status != 400 {
					t.Errorf("no operation named: %d %s", a.Status, a.Body)
				}
				a := s.run(t, `query($v: Boolean = true) { echo(int: `+n+`, sure: $v) }`, `{"v":false}`)
				if string(a.Data) != `{"echo":{"int":`+n+`,"sure":false}}` {
					t.Errorf("%s: %s", n, a.Body)
				}
			})
		}
	}
	callers.Wait()
}
