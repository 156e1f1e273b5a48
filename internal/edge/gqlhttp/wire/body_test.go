package wire_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
)

func ExampleParseBody() {
	r, err := wire.ParseBody([]byte(`{"query": "query a($id: ID!) { node(id: $id) { id } }", "variables": {"id": "dep_1"}}`))
	fmt.Println(r.Query, len(r.Variables), err)

	_, err = wire.ParseBody([]byte(`{"query": "{ __typename }", "variables": [], "query2": ""}`))
	refusal, _ := errors.AsType[*fault.Error](err)
	for _, v := range refusal.Violations {
		fmt.Println(v.Pointer, v.Message)
	}
	// Output:
	// query a($id: ID!) { node(id: $id) { id } } 1 <nil>
	// /variables must be an object or null, found an array
	// /query2 is not known, the members are query, documentId, operationName, variables, extensions
}

func TestABodyIsReadByTheLetter(t *testing.T) {
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
		_, err := wire.ParseBody([]byte(body))
		if fault.Status(err) != 400 || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", body, err, want)
		}
	}
}

func TestEveryWrongMemberIsReportedWithItsPlace(t *testing.T) {
	t.Parallel()
	_, err := wire.ParseBody([]byte(`{"query":1,"operationName":2,"variables":3,"extra":4}`))
	refusal, _ := errors.AsType[*fault.Error](err)
	var pointers []string
	for _, v := range refusal.Violations {
		pointers = append(pointers, v.Pointer)
	}
	if diff := cmp.Diff([]string{"/query", "/operationName", "/variables", "/extra"}, pointers); diff != "" {
		t.Error(diff)
	}
}

func TestABadBodyIsNotRepeated(t *testing.T) {
	t.Parallel()
	_, err := wire.ParseBody([]byte(`{"query":"{ a }","variables":{"password":"hunter2"},,}`))
	if fault.Status(err) != 400 || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

func TestAURLHasTheMembersOfABody(t *testing.T) {
	t.Parallel()
	byURL, err := wire.ParseURL(url.Values{
		"query": {"{ a }"}, "operationName": {"b"}, "variables": {`{"n":1.50}`}, "extensions": {`{"x":[1]}`},
	}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	byBody, err := wire.ParseBody([]byte(`{"query":"{ a }","operationName":"b","variables":{"n":1.50},"extensions":{"x":[1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(byBody, byURL); diff != "" {
		t.Error(diff)
	}
}

func TestADocumentIsNamedByItsIDOrItsHash(t *testing.T) {
	t.Parallel()
	const hashed = `"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}`
	for body, want := range map[string]struct{ id, hash, err string }{
		`{"documentId":"d"}`:                            {id: "d"},
		`{` + hashed + `}`:                              {hash: "ab"},
		`{"documentId":"d",` + hashed + `}`:             {id: "d"},
		`{"query":"{ a }",` + hashed + `}`:              {},
		`{"documentId":"d","query":"{ a }"}`:            {err: "/documentId must not be there beside a query"},
		`{"extensions":{"persistedQuery":{}}}`:          {err: "/extensions/persistedQuery/sha256Hash must be the hash"},
		`{"extensions":{"persistedQuery":null}}`:        {err: "/query must be the text"},
		`{"query":"","extensions":{"other":{"a":"b"}}}`: {err: "/query must be the text"},
	} {
		r, err := wire.ParseBody([]byte(body))
		switch {
		case want.err != "" && (err == nil || !strings.Contains(err.Error(), want.err)):
			t.Errorf("%s: %v, want %s", body, err, want.err)
		case want.err == "" && (err != nil || r.DocumentID != want.id || r.Hash != want.hash):
			t.Errorf("%s: %+v %v, want %v", body, r, err, want)
		}
	}
}
