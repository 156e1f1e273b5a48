package graph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"slipway/graph"
	"slipway/internal/base/actor"
	"slipway/internal/edge/gqlhttp"
)

// A resolver without services panics in every field; gqlgen resolves those of a query at once.
func TestFieldsThatPanicAtOnceAreOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	const fields = 25
	var log bytes.Buffer
	handler := graph.NewHandler(&graph.Resolver{}, graph.Config{
		Server: gqlhttp.Config{Presenter: gqlhttp.Presenter{Log: slog.New(slog.NewJSONHandler(&log, nil))}},
	})
	var query strings.Builder
	for i := range fields {
		fmt.Fprintf(&query, " a%d: projects { nodes { id } }", i)
	}
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{`+query.String()+` }"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r.WithContext(actor.With(r.Context(), &actor.Actor{Role: actor.Admin, OrganizationID: "org_1"})))

	if errs := strings.Count(w.Body.String(), `"code":"slipway:Server:INTERNAL"`); errs != fields {
		t.Errorf("%d errors of %d fields: %.500s", errs, fields, w.Body)
	}
	var line struct {
		Stack  string
		Panics int
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Panics != fields || !strings.Contains(line.Stack, "Projects") {
		t.Errorf("%v: %d bytes logged: %.2000s", err, log.Len(), log.String())
	}
}
