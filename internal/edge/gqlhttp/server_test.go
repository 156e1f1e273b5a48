package gqlhttp_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp"
	"slipway/internal/edge/gqlhttp/wire"
)

// around is an extension made of a function.
type around func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler

func (around) ExtensionName() string                   { return "Around" }
func (around) Validate(graphql.ExecutableSchema) error { return nil }
func (f around) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	return f(ctx, next)
}

func serverWith(f around) server {
	log := new(bytes.Buffer)
	presenter := gqlhttp.Presenter{Log: slog.New(slog.NewJSONHandler(log, nil))}
	s := gqlhttp.NewServer(toy{toySchema}, gqlhttp.Config{Presenter: presenter}, gqlhttp.HTTP{})
	s.Use(f)
	return server{s, log}
}

func TestAPanicOutsideTheResolversIsMaskedAndLogged(t *testing.T) {
	t.Parallel()
	for cause, f := range map[string]around{
		"secret": func(context.Context, graphql.OperationHandler) graphql.ResponseHandler { panic("secret") },
		"unsupported type": func(context.Context, graphql.OperationHandler) graphql.ResponseHandler {
			return graphql.OneShot(&graphql.Response{Extensions: map[string]any{"no JSON": make(chan int)}})
		},
	} {
		s := serverWith(f)
		a := s.run(t, `{ __typename }`, "")
		if a.Status != 500 || a.code() != string(fault.ServerInternal) || strings.Contains(a.Body, cause) ||
			!strings.HasPrefix(a.Header.Get("Content-Type"), "application/graphql-response+json") {
			t.Errorf("%s: %d %v %s", cause, a.Status, a.Header, a.Body)
		}
		if !strings.Contains(s.log.String(), cause) {
			t.Errorf("%s is not in the log: %s", cause, s.log)
		}
	}
}

func TestAnExtensionThatRefusesGivesItsStatusAndNoData(t *testing.T) {
	t.Parallel()
	s := serverWith(func(context.Context, graphql.OperationHandler) graphql.ResponseHandler {
		refusal := wire.FromFault(fault.Data{Code: string(fault.RequestRateLimited), Message: "Too much."})
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{refusal}})
	})
	for _, accept := range []string{"application/json", "application/graphql-response+json"} {
		r := post(`{"query":"{ __typename }"}`)
		r.Header.Set("Accept", accept)
		if a := s.do(t, r); a.Status != 429 || strings.Contains(a.Body, `"data"`) {
			t.Errorf("%s: %d %s", accept, a.Status, a.Body)
		}
	}
}

func TestExtensionsOfTheAnswerComeWithTheData(t *testing.T) {
	t.Parallel()
	s := serverWith(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		answer := next(ctx)
		return func(ctx context.Context) *graphql.Response {
			resp := answer(ctx)
			resp.Extensions = map[string]any{"cost": 3}
			return resp
		}
	})
	if a := s.run(t, `{ __typename }`, ""); a.Body != `{"data":{"__typename":"Query"},"extensions":{"cost":3}}` {
		t.Error(a.Body)
	}
}

func TestTheSchemaIsShownWhenIntrospectionIsOn(t *testing.T) {
	t.Parallel()
	a := newServer(gqlhttp.Config{Introspection: true}).run(t, `{ __schema { __typename } }`, "")
	if string(a.Data) != `{"__schema":true}` {
		t.Error(a.Body)
	}
}

func TestARequestThatNoTransportTakesIsRefused(t *testing.T) {
	t.Parallel()
	s := gqlhttp.NewServer(toy{toySchema}, gqlhttp.Config{})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/graphql", nil))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), string(fault.RequestNotFound)) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
