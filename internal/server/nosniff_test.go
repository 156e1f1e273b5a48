package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/server"
)

// visit is a request, and the status of its answer.
type visit struct {
	method, path, body string
	header             []string
	want               int
}

func nosniffed(t *testing.T, url string, v visit) (body string) {
	t.Helper()
	resp, body := send(t, v.method, url+v.path, v.body, v.header...)
	if resp.StatusCode != v.want && v.want != 0 {
		t.Errorf("%s %s: status %d, want %d: %.200s", v.method, v.path, resp.StatusCode, v.want, body)
	}
	if got := resp.Header.Values("X-Content-Type-Options"); len(got) != 1 || got[0] != "nosniff" {
		t.Errorf("%s %s %v: %d with X-Content-Type-Options %q", v.method, v.path, v.header, resp.StatusCode, got)
	}
	return body
}

func TestNoAnswerIsToBeSniffed(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Playground: true})
	who, content := "Bearer "+w.Acme.Tokens[actor.Developer], []string{"Content-Type", "application/json"}
	const query, mutation = `{"query":"{ __typename }"}`, "/graphql?query=mutation{cancelDeployment(input:{id:1}){deployment{id}}}"
	for _, v := range []visit{
		{"GET", "/nothing", "", nil, 404}, {"DELETE", "/module-definitions", "", nil, 405}, {"GET", "/deployments/x", "", []string{"Authorization", "Bearer x"}, 401},
		{"POST", "/deployments/x/rollback", "", []string{"Sec-Fetch-Site", "cross-site"}, 403}, {"HEAD", "/openapi.json", "", nil, 0}, {"GET", "/", "", nil, 302},
		{"POST", "/graphql", query, content, 200}, {"POST", "/graphql", "{", content, 400}, {"POST", "/graphql", query, nil, 415},
		{"POST", "/graphql", query, append(content, "Authorization", "Bearer x"), 401}, {"POST", "/graphql", query, append(content, "Sec-Fetch-Site", "cross-site"), 403},
		{"POST", "/graphql", query, append(content, "Accept", "text/event-stream"), 200}, {"POST", "/graphql", query, append(content, "Accept", "image/png"), 406},
		{"GET", mutation, "", nil, 405}, {"PUT", "/graphql", "", nil, 405}, {"OPTIONS", "/graphql", "", nil, 204},
		{"GET", "/graphql", "", []string{"Connection", "Upgrade", "Upgrade", "websocket"}, 0},
		{"GET", "/playground/nothing", "", nil, 404}, {"POST", "/playground", "", nil, 0},
	} {
		nosniffed(t, s.URL, v)
	}
	document := struct {
		Paths map[string]map[string]json.RawMessage
	}{}
	if err := json.Unmarshal([]byte(nosniffed(t, s.URL, visit{"GET", "/openapi.json", "", nil, 200})), &document); err != nil || len(document.Paths) < 4 {
		t.Fatalf("%d paths: %v", len(document.Paths), err)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			nosniffed(t, s.URL, visit{strings.ToUpper(method), path, "", []string{"Authorization", who}, 0})
		}
	}
	page := nosniffed(t, s.URL, visit{"GET", "/playground", "", nil, 200})
	assets := regexp.MustCompile(`(?:src|href)="([^":]+)"`).FindAllStringSubmatch(page, -1)
	for _, asset := range assets {
		nosniffed(t, s.URL, visit{"GET", "/" + asset[1], "", nil, 200})
	}
	if len(assets) == 0 {
		t.Errorf("the page names no assets: %s", page)
	}
}

func TestNoAnswerAboutHealthIsToBeSniffed(t *testing.T) {
	t.Parallel()
	health := &server.Health{Ping: func(context.Context) error { return nil }}
	s := httptest.NewServer(health.Handler())
	defer s.Close()
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/nothing": http.StatusNotFound, "/debug/pprof/": 0} {
		nosniffed(t, s.URL, visit{"GET", path, "", nil, want})
	}
	nosniffed(t, s.URL, visit{"POST", "/healthz", "", nil, http.StatusMethodNotAllowed})
	health.Drain()
	nosniffed(t, s.URL, visit{"GET", "/readyz", "", nil, http.StatusServiceUnavailable})
}
