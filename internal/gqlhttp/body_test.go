package gqlhttp_test

import (
	"net/http"
	"strings"
	"testing"

	"slipway/internal/gqlhttp"
)

func TestABodyIsTakenByTheLetter(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for body, want := range map[string]string{
		``:                                     "found the end",
		`[]`:                                   "must be one object",
		`[{"query":"{ __typename }"}]`:         "must be one object",
		`{"query":"{ __typename }"} x`:         "expected the end",
		`{}`:                                   "/query must be the text",
		`{"query":null}`:                       "/query must be the text",
		`{"query":""}`:                         "/query must be the text",
		`{"query":7}`:                          "/query must be a string or null, found a number",
		`{"query":"{ a }","operationName":[]}`: "/operationName must be a string or null, found an array",
		`{"query":"{ a }","variables":[]}`:     "/variables must be an object or null, found an array",
		`{"query":"{ a }","variables":"{}"}`:   "/variables must be an object or null, found a string",
		`{"query":"{ a }","extensions":1}`:     "/extensions must be an object or null, found a number",
		`{"query":"{ a }","id":"x"}`:           "/id is not known, the members are query, documentId, operationName, variables, extensions",
		`{"query":"{ a }","query":"{ b }"}`:    "duplicate key",
		`{"query":"{ a }","variables":{"a":{"b":1,"b":2}}}`:    "/variables/a/b duplicate key",
		`{"query":"{ a }","variables":{"a":"\ud800"}}`:         "/variables/a",
		`{"query":"{ a }","variables":{"a":` + deep(95) + `}}`: "nested too deep, at most 96",
	} {
		a := newServer(gqlhttp.Config{}).do(t, post(body))
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Errors[0].Message, want) {
			t.Errorf("%.60s: %d %s, want %q", body, a.Status, a.Body, want)
		}
	}
}

func TestEveryWrongMemberIsReportedWithItsPlace(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).do(t, post(`{"query":1,"operationName":2,"variables":3,"extra":4}`))
	for _, pointer := range []string{`"pointer":"/query"`, `"pointer":"/operationName"`, `"pointer":"/variables"`, `"pointer":"/extra"`} {
		if !strings.Contains(a.Body, pointer) {
			t.Errorf("%s is not in %s", pointer, a.Body)
		}
	}
}

func TestABadBodyIsNotRepeated(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{}).do(t, post(`{"query":"{ a }","variables":{"password":"hunter2"},,}`))
	if a.Status != http.StatusBadRequest || strings.Contains(a.Body, "hunter2") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestValuesOfCustomScalarsKeepTheirDigitsAndTheirOrder(t *testing.T) {
	t.Parallel()
	const value = `{"one":1.0,"big":123456789012345678901234567890,"null":null,"list":[{"z":1e3,"a":"\ud83d\ude00"}]}`
	const want = `{"one":1.0,"big":123456789012345678901234567890,"null":null,"list":[{"z":1e3,"a":"😀"}]}`
	a := newServer(gqlhttp.Config{}).run(t, `query($v: JSON) { echo(json: $v) }`, `{"v":`+value+`}`)
	if !strings.Contains(string(a.Data), want) {
		t.Errorf("%s is not in %s", want, a.Body)
	}
}
