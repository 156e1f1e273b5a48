package web_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"slipway/web"
)

// ask sends one request to a server that has the explorer mounted as the documentation says.
func ask(t *testing.T, cfg web.Config, method, target string, header ...string) *http.Response {
	t.Helper()
	mux := http.NewServeMux()
	explorer := web.Explorer(cfg)
	mux.Handle("/playground", explorer)
	mux.Handle("/playground/", explorer)
	return askOf(t, mux, method, target, header...)
}

func askOf(t *testing.T, handler http.Handler, method, target string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryAnswerForbidsWhatThePageDoesNotNeed(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
			"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	for _, target := range []string{"/playground", "/playground/", "/playground/lite.js", "/playground/config.json", "/playground/none"} {
		r := ask(t, web.Config{}, http.MethodGet, target)
		for name, value := range want {
			if got := r.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", target, name, got, value)
			}
		}
	}
}

func TestFilesHaveTheirMediaType(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/playground":             "text/html; charset=utf-8",
		"/playground/lite.js":     "text/javascript; charset=utf-8",
		"/playground/lite.css":    "text/css; charset=utf-8",
		"/playground/icon.svg":    "image/svg+xml",
		"/playground/config.json": "application/json",
	} {
		r := ask(t, web.Config{}, http.MethodGet, target)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s, want 200 %s", target, r.StatusCode, r.Header.Get("Content-Type"), want)
		}
	}
}

// Links of the page and imports of its scripts; the page's own are relative to /, the scripts' to
// /playground/.
var links = regexp.MustCompile(`(?:href|src)="([^"]+)"|from '([^']+)'`)

func TestEveryFileThatThePageNamesIsServed(t *testing.T) {
	t.Parallel()
	todo, done := []string{"/playground"}, map[string]bool{}
	for len(todo) > 0 {
		target := todo[0]
		todo = todo[1:]
		if done[target] {
			continue
		}
		done[target] = true
		r := ask(t, web.Config{}, http.MethodGet, target)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, want 200", target, r.StatusCode)
		}
		for _, link := range links.FindAllStringSubmatch(body(t, r), -1) {
			todo = append(todo, path.Join(path.Dir(target), link[1]+link[2]))
		}
	}
	if !done["/playground/lite.js"] || !done["/playground/request.js"] {
		t.Errorf("the page and its scripts were not followed: %v", done)
	}
	if files, err := fs.Glob(os.DirFS("lite"), "*"); err != nil || len(files) != len(done) {
		t.Errorf("%d files are embedded and %d are used (%v)", len(files), len(done), err)
	}
}

func TestThePageNamesNoOtherHostAndHoldsNoInlineCode(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9-]+\.[a-z]|@import`)
	inline := regexp.MustCompile(`(?i)<script(?:[^>]*)>[^<]|<style|\sstyle=|\son[a-z]+="`)
	err := fs.WalkDir(os.DirFS("lite"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path.Join("lite", name))
		// An XML namespace is a name that nothing is fetched from.
		text := strings.ReplaceAll(string(content), "http://www.w3.org/2000/svg", "")
		if found := other.FindString(text); found != "" {
			t.Errorf("%s names another host: %q", name, found)
		}
		if found := inline.FindString(text); strings.HasSuffix(name, ".html") && found != "" {
			t.Errorf("%s has inline code or style: %q", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfigGivesTheSettingsWithDefaults(t *testing.T) {
	t.Parallel()
	example := web.Example{Name: "One", Query: "{ viewer { name } }", Variables: `{"a": 1}`}
	for name, c := range map[string]struct{ cfg, want web.Config }{
		"empty": {web.Config{}, web.Config{Endpoint: "/graphql", Examples: []web.Example{}}},
		"full": {
			web.Config{Token: "t", Endpoint: "/api/graphql", Examples: []web.Example{example}},
			web.Config{Token: "t", Endpoint: "/api/graphql", Examples: []web.Example{example}},
		},
	} {
		var got web.Config
		if err := json.Unmarshal([]byte(body(t, ask(t, c.cfg, http.MethodGet, "/playground/config.json", "Sec-Fetch-Site", "same-origin"))), &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestTheTokenIsInNoOtherFile(t *testing.T) {
	t.Parallel()
	if text := body(t, ask(t, web.Config{Token: "very-secret"}, http.MethodGet, "/playground")); strings.Contains(text, "very-secret") {
		t.Error("the page itself has the token")
	}
}

func TestTheConfigIsForTheExplorersOwnPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		site          []string
		secret, plain int
	}{
		"its own page":         {[]string{"same-origin"}, 200, 200},
		"typed by a person":    {[]string{"none"}, 200, 200},
		"no word":              {nil, 403, 200},
		"an empty word":        {[]string{""}, 403, 200},
		"another page's":       {[]string{"cross-site"}, 403, 403},
		"another subdomain's":  {[]string{"same-site"}, 403, 403},
		"two words":            {[]string{"same-origin", "cross-site"}, 403, 403},
		"one that there isn't": {[]string{"Same-Origin"}, 403, 403},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for token, want := range map[string]int{"very-secret": c.secret, "": c.plain} {
				r := httptest.NewRequest(method, "/playground/config.json", nil)
				r.Header["Sec-Fetch-Site"] = c.site
				w := httptest.NewRecorder()
				web.Explorer(web.Config{Token: token}).ServeHTTP(w, r)
				if w.Code != want || w.Header().Get("Vary") != "Sec-Fetch-Site" {
					t.Errorf("%s: %s with the token %q: %d, Vary %q, want %d", name, method, token, w.Code, w.Header().Get("Vary"), want)
				}
				if text := w.Body.String(); want == 403 && (strings.Contains(text, "very-secret") || !strings.Contains(text, "must be same-origin or none, found ")) {
					t.Errorf("%s: %s", name, text)
				}
			}
		}
	}
	if r := ask(t, web.Config{Token: "very-secret"}, http.MethodGet, "/playground/lite.js", "Sec-Fetch-Site", "cross-site"); r.StatusCode != 200 {
		t.Errorf("another file: %d", r.StatusCode)
	}
}

func TestAnUnchangedFileIsNotSentAgain(t *testing.T) {
	t.Parallel()
	first := ask(t, web.Config{}, http.MethodGet, "/playground/lite.js")
	if got := first.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("Cache-Control is %q, want no-cache", got)
	}
	again := ask(t, web.Config{}, http.MethodGet, "/playground/lite.js", "If-None-Match", first.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified || body(t, again) != "" {
		t.Errorf("status %d, want 304 without a body", again.StatusCode)
	}
	other := ask(t, web.Config{}, http.MethodGet, "/playground/lite.js", "If-None-Match", `"older"`)
	if other.StatusCode != http.StatusOK {
		t.Errorf("status %d for another version, want 200", other.StatusCode)
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, "BREW"} {
		r := ask(t, web.Config{}, method, "/playground")
		text := body(t, r)
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" || !strings.Contains(text, "not "+method) {
			t.Errorf("%s: %d, Allow %q, %q", method, r.StatusCode, r.Header.Get("Allow"), text)
		}
	}
	if r := ask(t, web.Config{}, http.MethodOptions, "/playground"); r.StatusCode != http.StatusNoContent || r.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("OPTIONS: %d, Allow %q", r.StatusCode, r.Header.Get("Allow"))
	}
	r := ask(t, web.Config{}, http.MethodHead, "/playground")
	if r.StatusCode != http.StatusOK || r.ContentLength == 0 || body(t, r) != "" {
		t.Errorf("HEAD: %d, length %d", r.StatusCode, r.ContentLength)
	}
}

func TestUnknownFilesAreNotFound(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/playground/none.js", "/playground/index.html", "/playground/lite", "/playground/%2e%2e/web.go"} {
		if r := ask(t, web.Config{}, http.MethodGet, target); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", target, r.StatusCode)
		}
	}
}

func TestATrailingSlashLeadsToThePageUnderAnyPrefix(t *testing.T) {
	t.Parallel()
	r := ask(t, web.Config{}, http.MethodGet, "/playground/")
	if r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "../playground" {
		t.Errorf("%d to %q, want 308 to ../playground", r.StatusCode, r.Header.Get("Location"))
	}
}

func TestItWorksOnChi(t *testing.T) {
	t.Parallel()
	router := chi.NewRouter()
	router.Mount("/playground", web.Explorer(web.Config{}))
	for target, want := range map[string]int{"/playground": 200, "/playground/lite.css": 200, "/playground/": 308} {
		if r := askOf(t, router, http.MethodGet, target); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", target, r.StatusCode, want)
		}
	}
}
