package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"slipway/internal/test/worldtest"
)

// contract is the document that every request and answer of these tests is held against.
type contract struct {
	document *openapi3.T
	routes   routers.Router
}

var loadContract = sync.OnceValues(func() (contract, error) {
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		return contract{}, err
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return contract{}, err
	}
	routes, err := gorillamux.NewRouter(document)
	return contract{document, routes}, err
})

func theContract(t testing.TB) contract {
	t.Helper()
	c, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exchange is one request.
type exchange struct {
	method, path, token, body string
	headers                   map[string]string
}

// ask sends a request and holds it and its answer against the contract.
func ask(t testing.TB, w *worldtest.World, e exchange) worldtest.Response {
	t.Helper()
	got := w.REST(t, e.method, e.path, e.token, e.body, e.headers)
	theContract(t).check(t, e, got)
	return got
}

// misread are the refusals of requests that the contract need not allow.
var misread = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotAcceptable, http.StatusRequestEntityTooLarge,
	http.StatusUnsupportedMediaType, http.StatusTooManyRequests,
}

func (c contract) check(t testing.TB, e exchange, got worldtest.Response) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), e.method, e.path, strings.NewReader(e.body))
	if e.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.token != "" {
		r.Header.Set("Authorization", "Bearer "+e.token)
	}
	for name, value := range e.headers {
		if value != "" { // a body without a type counts as JSON
			r.Header.Set(name, value)
		}
	}
	route, params, err := c.routes.FindRoute(r)
	if err != nil {
		c.checkRefusal(t, got)
		return
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, Route: route, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: bears, IncludeResponseStatus: true, SkipSettingDefaults: true},
	}
	if !slices.Contains(misread, got.Status) {
		if err := openapi3filter.ValidateRequest(t.Context(), in); err != nil {
			t.Errorf("%s %s was answered with %d, but the contract does not allow it: %v", e.method, e.path, got.Status, err)
		}
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: got.Status, Header: got.Header,
		Body: io.NopCloser(bytes.NewReader(got.Body)), Options: in.Options,
	})
	if err != nil {
		t.Errorf("%s %s: the answer %d breaks the contract: %v\n%s", e.method, e.path, got.Status, err, got.Body)
	}
}

func bears(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if !strings.HasPrefix(in.RequestValidationInput.Request.Header.Get("Authorization"), "Bearer ") {
		return errors.New("no bearer token")
	}
	return nil
}

// checkRefusal holds the answer for what is not in the contract against the body of all refusals.
func (c contract) checkRefusal(t testing.TB, got worldtest.Response) {
	t.Helper()
	var body any
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Errorf("the refusal %d is not JSON: %v: %s", got.Status, err, got.Body)
		return
	}
	schema := c.document.Components.Schemas["UserFacingErrorData"].Value
	if err := schema.VisitJSON(body, openapi3.EnableJSONSchema2020(), openapi3.VisitAsResponse()); err != nil {
		t.Errorf("the refusal %d has another body than all: %v: %s", got.Status, err, got.Body)
	}
}
