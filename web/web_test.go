package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"slipway/internal/edge/httpx"
	"slipway/web"
)

// The program as it is built without npm, and with it.
var (
	without = fstest.MapFS{}
	with    = fstest.MapFS{
		"index.html.gz":          compressed(`<html><script src="playground/assets/index-1.js"></script></html>`),
		"assets/index-1.js.gz":   compressed("let one = 1;"),
		"assets/codicon.ttf.gz":  compressed("font"),
		"assets/index-1.css.gz":  compressed("a {}"),
		"assets/icon-xyz.svg.gz": compressed("<svg/>"),
	}
)

func compressed(text string) *fstest.MapFile {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return &fstest.MapFile{Data: packed.Bytes()}
}

// ask sends one request to a server without GraphiQL that has the explorer mounted as the documentation says.
func ask(t *testing.T, cfg web.Config, method, target string, header ...string) *http.Response {
	t.Helper()
	return askOf(t, mounted(web.Explorer(cfg, without)), method, target, header...)
}

func mounted(explorer http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/playground", explorer)
	mux.Handle("/playground/", explorer)
	return httpx.Compress(1)(mux)
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
	for name, c := range map[string]struct {
		built  fs.FS
		file   string
		policy []string
	}{
		"the small page": {without, "/playground/lite.js", []string{"style-src 'self'", "img-src 'self' data:"}},
		"GraphiQL": {with, "/playground/assets/index-1.js", []string{
			"worker-src 'self'", "style-src 'self' 'unsafe-inline'", "font-src 'self' data:", "img-src 'self' data:",
		}},
	} {
		policy := append([]string{
			"default-src 'none'", "script-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		}, c.policy...)
		slices.Sort(policy)
		for _, target := range []string{"/playground", "/playground/", c.file, "/playground/config.json", "/playground/none"} {
			r := askOf(t, mounted(web.Explorer(web.Config{}, c.built)), http.MethodGet, target)
			got := strings.Split(r.Header.Get("Content-Security-Policy"), "; ")
			slices.Sort(got)
			if diff := cmp.Diff(policy, got); diff != "" {
				t.Errorf("%s, %s: the policy (-want +got)\n%s", name, target, diff)
			}
			for header, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"} {
				if got := r.Header.Get(header); got != value {
					t.Errorf("%s, %s: %s is %q, want %q", name, target, header, got, value)
				}
			}
		}
	}
}

func TestWithoutGraphiQLTheSmallPageIsServed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		built       fs.FS
		has, hasNot string
	}{
		"without npm":              {without, "playground/lite.js", "assets/index-1.js"},
		"with npm":                 {with, "assets/index-1.js", "lite.js"},
		"with a build broken off":  {fstest.MapFS{"assets/index-1.js.gz": with["assets/index-1.js.gz"]}, "playground/lite.js", "assets/index-1.js"},
		"with the program's own":   {web.GraphiQL(), "<title>Slipway", "nothing of the kind"},
		"with nothing in a folder": {fstest.MapFS{".gitkeep": {}}, "playground/lite.js", "assets"},
	} {
		r := askOf(t, mounted(web.Explorer(web.Config{}, c.built)), http.MethodGet, "/playground")
		if text := body(t, r); r.StatusCode != http.StatusOK || !strings.Contains(text, c.has) || strings.Contains(text, c.hasNot) {
			t.Errorf("%s: %d, want a page with %q and without %q:\n%s", name, r.StatusCode, c.has, c.hasNot, text)
		}
	}
}

func TestFilesOfGraphiQLGoOutAsTheClientTakesThem(t *testing.T) {
	t.Parallel()
	explorer := mounted(web.Explorer(web.Config{}, with))
	const target, text = "/playground/assets/index-1.js", "let one = 1;"
	tags := map[string]bool{}
	for accept, gzipped := range map[string]bool{
		"gzip": true, "gzip, deflate, br, zstd": true, "br;q=1.0, GZIP;q=0.5": true,
		"": false, "br": false, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=x": false, "x-gzip-like": false,
	} {
		r := askOf(t, explorer, http.MethodGet, target, "Accept-Encoding", accept)
		got := body(t, r)
		if gzipped {
			got = unpacked(t, got)
		}
		if r.StatusCode != http.StatusOK || got != text || (r.Header.Get("Content-Encoding") == "gzip") != gzipped {
			t.Errorf("%q: %d, Content-Encoding %q, %q", accept, r.StatusCode, r.Header.Get("Content-Encoding"), got)
		}
		if r.Header.Get("Content-Type") != "text/javascript; charset=utf-8" || !slices.Contains(r.Header.Values("Vary"), "Accept-Encoding") {
			t.Errorf("%q: Content-Type %q, Vary %q", accept, r.Header.Get("Content-Type"), r.Header.Values("Vary"))
		}
		tags[r.Header.Get("ETag")] = true
		if again := askOf(t, explorer, http.MethodGet, target, "Accept-Encoding", accept, "If-None-Match", r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
			t.Errorf("%q: %d with its own tag, want 304", accept, again.StatusCode)
		}
	}
	if len(tags) != 2 {
		t.Errorf("%d entity tags, want one for each form: %v", len(tags), tags)
	}
	if r := askOf(t, explorer, http.MethodHead, target); r.StatusCode != http.StatusOK || r.ContentLength != int64(len(text)) || body(t, r) != "" {
		t.Errorf("HEAD: %d, length %d", r.StatusCode, r.ContentLength)
	}
}

func unpacked(t *testing.T, packed string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWhatIsNamedByItsContentIsAskedForOnce(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/playground":                   "no-cache",
		"/playground/config.json":       "no-cache",
		"/playground/assets/index-1.js": "max-age=31536000, immutable",
	} {
		if r := askOf(t, mounted(web.Explorer(web.Config{}, with)), http.MethodGet, target); r.Header.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control is %q, want %q", target, r.Header.Get("Cache-Control"), want)
		}
	}
}

func TestFilesHaveTheirMediaType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		built        fs.FS
		target, want string
	}{
		{without, "/playground", "text/html; charset=utf-8"},
		{without, "/playground/lite.js", "text/javascript; charset=utf-8"},
		{without, "/playground/lite.css", "text/css; charset=utf-8"},
		{without, "/playground/icon.svg", "image/svg+xml"},
		{without, "/playground/config.json", "application/json"},
		{with, "/playground", "text/html; charset=utf-8"},
		{with, "/playground/assets/index-1.css", "text/css; charset=utf-8"},
		{with, "/playground/assets/codicon.ttf", "font/ttf"},
		{with, "/playground/assets/icon-xyz.svg", "image/svg+xml"},
	} {
		r := askOf(t, mounted(web.Explorer(web.Config{}, c.built)), http.MethodGet, c.target)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != c.want {
			t.Errorf("%s: %d %s, want 200 %s", c.target, r.StatusCode, r.Header.Get("Content-Type"), c.want)
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
			if link[1] != "docs" { // which is another page
				todo = append(todo, path.Join(path.Dir(target), link[1]+link[2]))
			}
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
	example := web.Example{Name: "One", Query: "{ viewer { name } }", Variables: `{"a": 1}`, Tab: true}
	for name, c := range map[string]struct{ cfg, want web.Config }{
		"empty": {web.Config{}, web.Config{Examples: []web.Example{}}},
		"full": {
			web.Config{Token: "t", Examples: []web.Example{example}},
			web.Config{Token: "t", Examples: []web.Example{example}},
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
	for _, built := range []fs.FS{without, with} {
		r := askOf(t, web.Explorer(web.Config{Token: "very-secret"}, built), http.MethodGet, "/playground")
		if text := body(t, r); strings.Contains(text, "very-secret") {
			t.Error("the page itself has the token")
		}
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
				web.Explorer(web.Config{Token: token}, with).ServeHTTP(w, r)
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
	for _, target := range []string{"/playground/none.js", "/playground/index.html", "/playground/lite", "/playground/%2e%2e/web.go", "/playground/config.json.gz"} {
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
	router.Mount("/playground", web.Explorer(web.Config{}, without))
	for target, want := range map[string]int{"/playground": 200, "/playground/lite.css": 200, "/playground/": 308} {
		if r := askOf(t, router, http.MethodGet, target); r.StatusCode != want {
			t.Errorf("%s: %d, want %d", target, r.StatusCode, want)
		}
	}
}
