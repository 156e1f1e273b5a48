package worldtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// Response is what the API answered.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// GraphQL posts an operation. An empty token sends none; variables may be any value that encodes to a JSON object,
// json.RawMessage if its text matters, and nil for none. It asks for the cost. Like REST it fails the test, and
// answers with nothing, if the server cannot be reached; it may be called from any goroutine.
func (w *World) GraphQL(t testing.TB, token, query string, variables any) Response {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Errorf("encode the variables: %v", err)
		return Response{}
	}
	return w.REST(t, http.MethodPost, "/graphql", token, string(body), map[string]string{wire.CostHeader: "true"})
}

// REST sends a request to a path of the API. An empty token or body sends none; headers come on top of
// Authorization and Content-Type, and an empty value among them takes a header away.
func (w *World) REST(t testing.TB, method, path, token, body string, headers map[string]string) Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return Response{}
	}
	if w.organization != "" {
		r.Header.Set(httpx.OrganizationHeader, w.organization)
	}
	for name, value := range headersOf(token, body, headers) {
		r.Header.Set(name, value)
	}
	answer := send(t, r)
	w.canaries.checkAnswer(method+" "+path, body, answer.Body)
	return answer
}

func headersOf(token, body string, more map[string]string) map[string]string {
	headers := map[string]string{}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	if body != "" {
		headers["Content-Type"] = "application/json"
	}
	maps.Copy(headers, more)
	maps.DeleteFunc(headers, func(_, value string) bool { return value == "" })
	return headers
}

// client takes answers as a caller does who asks for no coding.
var client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true}}

func send(t testing.TB, r *http.Request) Response {
	t.Helper()
	answer, err := client.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		return Response{}
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return Response{Status: answer.StatusCode, Header: answer.Header, Body: body}
}

// At is the value at a place of the answer's JSON, nil if there is none: a string key leads into an
// object, an int index into an array. Numbers are json.Number, so that their digits stay.
func (r Response) At(t testing.TB, keys ...any) any {
	t.Helper()
	var value any
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Errorf("status %d, the body is not JSON: %v: %s", r.Status, err, r.Body)
		return nil
	}
	for _, key := range keys {
		value = at(value, key)
	}
	return value
}

func at(value, key any) any {
	switch key := key.(type) {
	case string:
		object, _ := value.(map[string]any)
		return object[key]
	case int:
		if array, _ := value.([]any); key < len(array) {
			return array[key]
		}
	}
	return nil
}

// Text is the string at a place of the answer's JSON; the test fails if there is none.
func (r Response) Text(t testing.TB, keys ...any) string {
	t.Helper()
	text, ok := r.At(t, keys...).(string)
	if !ok {
		t.Errorf("no text at %v: status %d: %s", keys, r.Status, r.Body)
	}
	return text
}

// Refusal is the error of the answer in REST's form, nil if there is none: a body that has a code,
// or the first of GraphQL's errors, its message among its extensions.
func (r Response) Refusal(t testing.TB) map[string]any {
	t.Helper()
	body, _ := r.At(t).(map[string]any)
	if body["code"] != nil {
		return body
	}
	first, _ := r.At(t, "errors", 0).(map[string]any)
	if first == nil {
		return nil
	}
	refusal, _ := first["extensions"].(map[string]any)
	refusal = maps.Clone(refusal)
	if refusal == nil {
		refusal = map[string]any{}
	}
	refusal["message"] = first["message"]
	return refusal
}

// Code is the code of the answer's error, empty if there is none.
func (r Response) Code(t testing.TB) string {
	t.Helper()
	code, _ := r.Refusal(t)["code"].(string)
	return code
}
