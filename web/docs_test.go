package web_test

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"slipway/web"
)

// askDocs sends one request to a server that has the REST documents mounted as their documentation says.
func askDocs(t *testing.T, method, target string, header ...string) *http.Response {
	t.Helper()
	mux := http.NewServeMux()
	documents := web.Documents("v1.2.3-4-gabc<>")
	mux.Handle("/docs", documents)
	mux.Handle("/docs/", documents)
	return askOf(t, mux, method, target, header...)
}

func TestTheDocumentsLoadWhatTheyNameAndNothingElse(t *testing.T) {
	t.Parallel()
	page := body(t, askDocs(t, http.MethodGet, "/docs"))
	if want := "<small>v1.2.3-4-gabc&lt;&gt;</small>"; strings.Count(page, want) != 1 {
		t.Errorf("not once %s in %s", want, page)
	}
	found := 0
	for _, link := range links.FindAllStringSubmatch(page, -1) {
		if link[1] == "openapi.json" || link[1] == "playground" {
			continue // which are not the page's
		}
		found++
		target := path.Join("/", link[1])
		r := askDocs(t, http.MethodGet, target)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", target, r.StatusCode, r.Header)
		}
		if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'; script-src 'self'; style-src 'self';") {
			t.Errorf("%s: the policy is %q", target, policy)
		}
		if again := askDocs(t, http.MethodGet, target, "If-None-Match", r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%s by its ETag: %d", target, again.StatusCode)
		}
	}
	if found != 5 {
		t.Errorf("%d files are linked in %s", found, page)
	}
	for target, want := range map[string]int{
		"/docs/":                     http.StatusPermanentRedirect,
		"/docs/swagger-ui.js":        http.StatusNotFound,
		"/docs/oauth2-redirect.html": http.StatusNotFound,
		"/docs/index.html":           http.StatusNotFound,
	} {
		if r := askDocs(t, http.MethodGet, target); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", target, r.StatusCode, want)
		}
	}
	if r := askDocs(t, http.MethodPost, "/docs"); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d %v", r.StatusCode, r.Header)
	}
}
