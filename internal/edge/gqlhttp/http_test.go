package gqlhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/wire"
)

func TestTheMediaTypeFollowsAccept(t *testing.T) {
	t.Parallel()
	const json, graphql = "application/json; charset=utf-8", "application/graphql-response+json; charset=utf-8"
	for accept, want := range map[string]string{
		"":                     json,
		"*/*":                  json,
		"text/html, */*;q=0.1": json,
		"application/json, application/graphql-response+json": graphql,
	} {
		r := get(url.Values{"query": {"{ __typename }"}})
		r.Header.Set("Accept", accept)
		a := newServer(gqlhttp.Config{}).do(t, r)
		if got := a.Header.Get("Content-Type"); a.Status != 200 || got != want {
			t.Errorf("Accept %q: %d %s, want %s", accept, a.Status, got, want)
		}
	}
}

func TestEveryAnswerIsPrivateAndNamesWhatItVariesBy(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	for name, r := range map[string]*http.Request{
		"data": post(`{"query":"{ __typename }"}`), "document": post(`{"query":"{"}`), "body": post(`{`),
	} {
		h := s.do(t, r).Header
		if h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Vary") != "Accept" {
			t.Errorf("%s: %v", name, h)
		}
	}
}

func TestARefusalHasItsStatusAndCodeAndNoData(t *testing.T) {
	t.Parallel()
	with := func(r *http.Request, header, value string) *http.Request {
		r.Header.Set(header, value)
		return r
	}
	valid := `{"query":"{ __typename }"}`
	for name, c := range map[string]struct {
		r      *http.Request
		status int
		code   fault.Code
	}{
		"not acceptable":       {with(post(valid), "Accept", "text/html"), 406, fault.RequestNotAcceptable},
		"weighted away":        {with(post(valid), "Accept", "*/*;q=0"), 406, fault.RequestNotAcceptable},
		"form":                 {with(post(valid), "Content-Type", "application/x-www-form-urlencoded"), 415, fault.RequestUnsupportedMedia},
		"no content type":      {with(post(valid), "Content-Type", ""), 415, fault.RequestUnsupportedMedia},
		"latin1":               {with(post(valid), "Content-Type", "application/json; charset=latin1"), 415, fault.RequestUnsupportedMedia},
		"compressed":           {with(post(valid), "Content-Encoding", "gzip"), 415, fault.RequestUnsupportedMedia},
		"put":                  {httptest.NewRequest(http.MethodPut, "/graphql", strings.NewReader(valid)), 405, fault.RequestMethodNotAllowed},
		"mutation over GET":    {get(url.Values{"query": {"mutation { echo }"}}), 405, fault.RequestMethodNotAllowed},
		"subscription":         {post(`{"query":"subscription { ticks }"}`), 406, fault.RequestNotAcceptable},
		"subscription by GET":  {get(url.Values{"query": {"subscription { ticks }"}}), 406, fault.RequestNotAcceptable},
		"large body":           {post(`{"query":"` + strings.Repeat(" ", gqlhttp.DefaultMaxBody) + `"}`), 413, fault.RequestTooLarge},
		"long document":        {post(`{"query":"` + strings.Repeat(" ", wire.DefaultMaxQuery+1) + `"}`), 413, fault.DocumentTooLarge},
		"syntax":               {post(`{"query":"{"}`), 400, fault.DocumentParseFailed},
		"unknown field":        {post(`{"query":"{ nothing }"}`), 400, fault.DocumentValidationFailed},
		"no operation":         {post(`{"query":"fragment f on Query { __typename }"}`), 400, fault.DocumentValidationFailed},
		"unknown operation":    {post(`{"query":"query a { __typename }","operationName":"b"}`), 400, fault.DocumentValidationFailed},
		"unnamed of several":   {post(`{"query":"query a { __typename } query b { __typename }"}`), 400, fault.DocumentValidationFailed},
		"variable":             {post(`{"query":"query($n: Int!) { echo(int: $n) }"}`), 400, fault.DocumentVariablesInvalid},
		"malformed GET":        {httptest.NewRequest(http.MethodGet, "/graphql?query=%zz", nil), 400, fault.RequestMalformed},
		"GET without a query":  {get(nil), 400, fault.RequestMalformed},
		"GET, repeated":        {get(url.Values{"query": {"{ __typename }", "{ echo }"}}), 400, fault.RequestMalformed},
		"GET, bad variables":   {get(url.Values{"query": {"{ __typename }"}, "variables": {"{"}}), 400, fault.RequestMalformed},
		"GET, empty variables": {get(url.Values{"query": {"{ __typename }"}, "variables": {""}}), 400, fault.RequestMalformed},
	} {
		c.r = c.r.WithContext(actor.WithRequestID(c.r.Context(), "r1"))
		a := newServer(gqlhttp.Config{}).do(t, c.r)
		if a.Status != c.status || a.code() != string(c.code) || a.Errors[0].Extensions["requestId"] != "r1" {
			t.Errorf("%s: %d %s, want %d %s", name, a.Status, a.Body, c.status, c.code)
		}
		if strings.Contains(a.Body, `"data"`) {
			t.Errorf("%s: data in %s", name, a.Body)
		}
	}
}

func TestJSONClientsGet200ForABadDocumentOnly(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{"query":"{"}`:                                 200,
		`{"query":"{ nothing }"}`:                       200,
		`{"query":"query($n: Int!) { echo(int: $n) }"}`: 200,
		`{"query":7}`:                                   400,
		`{`:                                             400,
	} {
		r := post(body)
		r.Header.Set("Accept", "application/json")
		if a := newServer(gqlhttp.Config{}).do(t, r); a.Status != want || strings.Contains(a.Body, `"data"`) {
			t.Errorf("%s: %d %s, want %d", body, a.Status, a.Body, want)
		}
	}
}

func TestAllowHasTheMethodsThatWork(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	if a := s.do(t, httptest.NewRequest(http.MethodDelete, "/graphql", nil)); a.Header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("DELETE: %v", a.Header)
	}
	if a := s.do(t, get(url.Values{"query": {"mutation { echo }"}})); a.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("mutation over GET: %v", a.Header)
	}
}

func TestAnOperationAnswersOverBothMethods(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	const want = `{"echo":{"int":7,"sure":false}}`
	byPost := s.do(t, post(`{"query":"query a { __typename } query b($n: Int) { echo(int: $n) }","operationName":"b","variables":{"n":7},"extensions":null}`))
	byGet := s.do(t, get(url.Values{
		"query": {"query a { __typename } query b($n: Int) { echo(int: $n) }"}, "operationName": {"b"}, "variables": {`{"n":7}`}, "extensions": {"{}"},
	}))
	for name, a := range map[string]answer{"POST": byPost, "GET": byGet} {
		if a.Status != 200 || string(a.Data) != want {
			t.Errorf("%s: %d %s, want %s", name, a.Status, a.Body, want)
		}
	}
	if a := s.run(t, `mutation { echo(text: "x") }`, ""); string(a.Data) != `{"echo":{"text":"x"}}` {
		t.Errorf("mutation: %s", a.Body)
	}
}

func TestAnEndedContextIsATimeout(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newServer(gqlhttp.Config{})
	a := s.do(t, post(`{"query":"{ __typename }"}`).WithContext(ctx))
	if a.Status != 503 || a.code() != string(fault.RequestTimeout) || a.Header.Get("Retry-After") != "5" || s.log.Len() > 0 {
		t.Errorf("%d %v %s; log %s", a.Status, a.Header, a.Body, s.log)
	}
}

func TestBodyAndDocumentHaveTheirLengthAndNoMore(t *testing.T) {
	t.Parallel()
	s := newServer(gqlhttp.Config{})
	body := func(bytes int) string { // the blanks stand after the document
		const short = `{"query":"{ __typename }"}`
		return short + strings.Repeat(" ", bytes-len(short))
	}
	document := func(bytes int) string {
		return `{"query":"{ __typename }` + strings.Repeat(" ", bytes-len("{ __typename }")) + `"}`
	}
	for _, c := range []struct {
		text    func(int) string
		most    int
		limit   string
		message string
	}{
		{body, gqlhttp.DefaultMaxBody, "body", "The body may have at most 262144 bytes, found 262145."},
		{document, wire.DefaultMaxQuery, "query", "The document may have at most 16384 bytes; found 16385."},
	} {
		if a := s.do(t, post(c.text(c.most))); a.Status != 200 || len(a.Errors) > 0 {
			t.Errorf("%s of %d bytes: %d %s", c.limit, c.most, a.Status, a.Body)
		}
		a := s.do(t, post(c.text(c.most+1)))
		if a.Status != 413 || len(a.Errors) != 1 || a.Errors[0].Message != c.message {
			t.Errorf("%s of %d bytes: %d %s", c.limit, c.most+1, a.Status, a.Body)
			continue
		}
		want := map[string]any{"limit": c.limit, "value": float64(c.most), "found": float64(c.most + 1)}
		if diff := cmp.Diff(want, a.Errors[0].Extensions["metadata"]); diff != "" {
			t.Errorf("%s: %s", c.limit, diff)
		}
	}
}
