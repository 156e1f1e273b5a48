package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

// below serves a world below the path /slipway, which a proxy takes away, and gives the URL of both.
func below(t *testing.T, c server.Config) (w *worldtest.World, base string) {
	t.Helper()
	var proxy httputil.ReverseProxy
	outside := httptest.NewServer(http.StripPrefix("/slipway", &proxy))
	t.Cleanup(outside.Close)
	c.BaseURL = outside.URL + "/slipway"
	w, inside, _ := serve(t, c)
	target, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Rewrite = func(r *httputil.ProxyRequest) { r.SetURL(target) }
	return w, c.BaseURL
}

// followed resolves a link against the URL that it was found at, and gives what is there.
func followed(t *testing.T, from, link, token string) (at string, status int, body string) {
	t.Helper()
	source, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	target, err := source.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	resp, body := send(t, http.MethodGet, target.String(), "", "Authorization", "Bearer "+token)
	return target.String(), resp.StatusCode, body
}

func TestEveryLinkWorksBelowThePathOfAProxy(t *testing.T) {
	t.Parallel()
	w, base := below(t, server.Config{Playground: true, Introspection: true})
	token := w.Acme.Tokens[actor.Developer]
	d := w.Fixture(t, w.Acme, "web").Succeeded(t)
	rollback := base + "/deployments/" + d.ID + "/rollback"

	made, _ := send(t, http.MethodPost, rollback, "", "Authorization", "Bearer "+token)
	location := made.Header.Get("Location")
	if _, status, body := followed(t, rollback, location, token); status != http.StatusOK || !strings.HasPrefix(location, "/slipway/deployments/dep_") {
		t.Errorf("Location %s: %d %s", location, status, body)
	}

	_, text := send(t, http.MethodPost, rollback, "", "Authorization", "Bearer "+token)
	var busy struct{ Action struct{ URL string } }
	if err := json.Unmarshal([]byte(text), &busy); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if at, status, body := followed(t, rollback, busy.Action.URL, token); status != http.StatusOK || at != busy.Action.URL {
		t.Errorf("the action %s: %d %s", busy.Action.URL, status, body)
	}

	_, text = send(t, http.MethodGet, base+"/openapi.json", "")
	var document struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal([]byte(text), &document); err != nil || len(document.Servers) != 1 {
		t.Fatalf("%v: %d servers", err, len(document.Servers))
	}
	if at, status, body := followed(t, base+"/openapi.json", strings.TrimSuffix(document.Servers[0].URL, "/")+"/module-definitions", token); status != http.StatusOK {
		t.Errorf("the contract's server %s, %s: %d %s", document.Servers[0].URL, at, status, body)
	}

	root, _ := send(t, http.MethodGet, base+"/", "")
	for _, page := range []string{root.Header.Get("Location"), "/slipway/playground", "/slipway/docs"} {
		everyFile(t, base, page)
	}

	// The explorer takes the endpoint to be beside its page.
	if at, status, body := followed(t, base+"/playground", "graphql?query={viewer{role}}", token); status != http.StatusOK {
		t.Errorf("the explorer's endpoint %s: %d %s", at, status, body)
	}
}

var linked = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// everyFile follows the links of a page, which must have some.
func everyFile(t *testing.T, base, page string) {
	t.Helper()
	at, status, html := followed(t, base, page, "")
	links := linked.FindAllStringSubmatch(html, -1)
	if status != http.StatusOK || len(links) == 0 {
		t.Errorf("%s: %d with %d links", page, status, len(links))
	}
	for _, link := range links {
		if file, status, _ := followed(t, at, link[1], ""); status != http.StatusOK {
			t.Errorf("%s, linked from %s: %d", file, at, status)
		}
	}
	slash, _ := send(t, http.MethodGet, at+"/", "")
	if target, status, _ := followed(t, at+"/", slash.Header.Get("Location"), ""); target != at || status != http.StatusOK {
		t.Errorf("%s/ leads to %s, %d", at, target, status)
	}
}

func TestTheSchemaIsServedWhereCallersMayAskForIt(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{Introspection: true})
	resp, text := send(t, http.MethodGet, s.URL+"/schema.graphql", "")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(text, "\ntype Query ") {
		t.Errorf("%d %v %.200s", resp.StatusCode, resp.Header, text)
	}
	if again, _ := send(t, http.MethodGet, s.URL+"/schema.graphql", "", "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("asked for again by its ETag: %d", again.StatusCode)
	}
	_, closed, _ := serve(t, server.Config{})
	for _, path := range []string{"/schema.graphql", "/docs", "/playground"} {
		if resp, text := send(t, http.MethodGet, closed.URL+path, ""); resp.StatusCode != http.StatusNotFound || !strings.Contains(text, "slipway:Request:NOT_FOUND") {
			t.Errorf("%s where nothing is shown: %d %s", path, resp.StatusCode, text)
		}
	}
}
