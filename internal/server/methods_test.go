package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

func newLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// methodsOf are the methods of each route, with what its parameters stand for.
func methodsOf(t *testing.T, api *server.Server, deployment string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := chi.Walk(api.Routes(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route = strings.NewReplacer("{id}", deployment, "/playground/*", "/playground/config.json", "/docs/*", "/docs/docs.js").Replace(route)
		found[route] = append(found[route], method)
		return nil
	})
	if err != nil || len(found) < 8 {
		t.Fatalf("%d routes, %v", len(found), err)
	}
	return found
}

func TestEveryRouteAnswersHeadAsGetAndTellsItsMethods(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	done := w.Fixture(t, w.Acme, "shop").Succeeded(t)
	api := server.New(w.Store, server.Config{Playground: true, Log: newLogger()})
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	ask := func(method, path string, header ...string) (*http.Response, string) {
		return send(t, method, s.URL+path, "", append(header, "X-Request-Id", "one", "Authorization", "Bearer "+w.Acme.Tokens[actor.Viewer])...)
	}
	for path, methods := range methodsOf(t, api, done.ID) {
		if path == "/graphql" {
			path += "?query=" + url.QueryEscape("{ viewer { name } moduleDefinitions { nodes { id name } } }")
		}
		read, mounted := slices.Contains(methods, "GET"), strings.HasPrefix(path, "/playground") || strings.HasPrefix(path, "/docs")
		resp, body := send(t, "OPTIONS", s.URL+path, "")
		allow := strings.Split(resp.Header.Get("Allow"), ", ")
		if resp.StatusCode != http.StatusNoContent || body != "" || !slices.Contains(allow, "OPTIONS") || slices.Contains(allow, "HEAD") != read {
			t.Errorf("OPTIONS %s: %d, Allow %q, %s", path, resp.StatusCode, allow, body)
		}
		for _, method := range methods {
			if !mounted && !slices.Contains(allow, method) {
				t.Errorf("OPTIONS %s: Allow %q has no %s", path, allow, method)
			}
		}
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"} {
			if slices.Contains(allow, method) {
				continue
			}
			resp, body := ask(method, path)
			if resp.StatusCode != http.StatusMethodNotAllowed || !slices.Equal(strings.Split(resp.Header.Get("Allow"), ", "), allow) {
				t.Errorf("%s %s: %d, Allow %q, want %q: %s", method, path, resp.StatusCode, resp.Header.Get("Allow"), allow, body)
			}
		}
		if read {
			sameHeaders(t, path, ask)
			sameHeaders(t, path, ask, "Authorization", "Bearer x") // two of them, so that it is refused
		}
	}
}

// sameHeaders compares the answers to HEAD and GET. Which of them are chunked is up to their length.
func sameHeaders(t *testing.T, path string, ask func(method, path string, header ...string) (*http.Response, string), header ...string) {
	t.Helper()
	get, body := ask("GET", path, header...)
	head, none := ask("HEAD", path, header...)
	for _, h := range []http.Header{get.Header, head.Header} {
		h.Del("Date")
		h.Del("RateLimit-Remaining") // a refusal counts, by either
		if head.ContentLength < 0 || len(body) > 2048 {
			h.Del("Content-Length")
		}
	}
	if diff := cmp.Diff(get.Header, head.Header); diff != "" || none != "" || head.StatusCode != get.StatusCode {
		t.Errorf("%s: HEAD gives %d %q where GET gives %d (-get +head):\n%s", path, head.StatusCode, none, get.StatusCode, diff)
	}
	if etag := get.Header.Get("ETag"); etag != "" {
		for _, method := range []string{"GET", "HEAD"} {
			if again, body := ask(method, path, "If-None-Match", etag); again.StatusCode != http.StatusNotModified || body != "" {
				t.Errorf("%s %s with its tag: %d %s", method, path, again.StatusCode, body)
			}
		}
	}
}

func TestAMutationAndASubscriptionAreNotReadByHead(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{})
	bearer := "Bearer " + w.Acme.Tokens[actor.Developer]
	for document, want := range map[string]string{
		`mutation { cancelDeployment(input: {id: "dep_1"}) { deployment { id } } }`: "POST, OPTIONS",
		`subscription { deploymentChanged(id: "dep_1") { deployment { id } } }`:     "GET, POST, OPTIONS",
	} {
		resp, _ := send(t, "HEAD", s.URL+"/graphql?query="+url.QueryEscape(document), "", "Authorization", bearer, "Accept", "text/event-stream")
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != want {
			t.Errorf("%s: %d, Allow %q", document, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
}

func TestHealthAndProfilesAnswerHeadAndTellTheirMethods(t *testing.T) {
	t.Parallel()
	health := httptest.NewServer((&server.Health{Ping: func(context.Context) error { return nil }}).Handler())
	profiles := httptest.NewServer(server.Profiles(true))
	defer health.Close()
	defer profiles.Close()
	for _, at := range []string{health.URL + "/healthz", health.URL + "/readyz", profiles.URL + "/debug/pprof/", profiles.URL + "/debug/pprof/cmdline"} {
		for method, want := range map[string]int{"HEAD": 200, "GET": 200, "OPTIONS": 204, "POST": 405, "DELETE": 405} {
			resp, _ := send(t, method, at, "")
			allow := strings.Split(resp.Header.Get("Allow"), ", ")
			slices.Sort(allow)
			if resp.StatusCode != want || want > 200 && !slices.Equal(allow, []string{"GET", "HEAD", "OPTIONS"}) {
				t.Errorf("%s %s: %d, Allow %q", method, at, resp.StatusCode, allow)
			}
		}
	}
}
