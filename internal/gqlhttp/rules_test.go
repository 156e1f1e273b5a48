package gqlhttp_test

import (
	"sync"
	"testing"

	"slipway/internal/fault"
	"slipway/internal/gqlhttp"
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

func TestADocumentIsJudgedAlikeEveryTime(t *testing.T) {
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
