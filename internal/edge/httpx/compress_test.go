package httpx_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"slipway/internal/edge/httpx"
)

// answering is a handler of answers of n bytes, which say how long they are where isKnown.
func answering(media string, n int, isKnown bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", media)
		h.Set("ETag", `"v3"`)
		if isKnown {
			h.Set("Content-Length", strconv.Itoa(n))
		}
		for range n / 16 {
			_, _ = io.WriteString(w, "0123456789abcdef")
		}
		_, _ = io.WriteString(w, strings.Repeat("x", n%16))
	}
}

// served returns what a handler answers behind a compressing middleware, over a connection.
func served(t *testing.T, handler http.Handler, method string, header ...string) *http.Response {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// decoded reads the body of an answer as it was before it was compressed.
func decoded(t *testing.T, answer *http.Response) io.Reader {
	t.Helper()
	if answer.Header.Get("Content-Encoding") != "gzip" {
		return answer.Body
	}
	unpacked, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return unpacked
}

// plain returns the body of an answer as it was before it was compressed.
func plain(t *testing.T, answer *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(decoded(t, answer))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAnswersFromAKiBOnAreCompressedForWhoAcceptsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		media      string
		bytes      int
		accept     string
		compressed bool
	}{
		"JSON":                        {"application/json; charset=utf-8", 1 << 10, "gzip", true},
		"GraphQL":                     {"application/graphql-response+json; charset=utf-8", 5000, "deflate, gzip, br", true},
		"text":                        {"text/plain; charset=utf-8", 1 << 20, "gzip", true},
		"a byte less":                 {"application/json", 1<<10 - 1, "gzip", false},
		"nothing":                     {"application/json", 0, "gzip", false},
		"nobody asks":                 {"application/json", 5000, "", false},
		"a stream of events":          {"text/event-stream; charset=utf-8", 5000, "gzip", false},
		"an image":                    {"image/png", 5000, "gzip", false},
		"who would rather have plain": {"application/json", 5000, "identity, gzip;q=0.5", false},
	} {
		for _, isKnown := range []bool{true, false} {
			handler := httpx.Compress(1)(answering(c.media, c.bytes, isKnown))
			answer := served(t, handler, http.MethodGet, "Accept-Encoding", c.accept)
			tag := map[bool]string{true: `"v3-gzip"`, false: `"v3"`}[c.compressed]
			if got := answer.Header.Get("Content-Encoding") == "gzip"; got != c.compressed || answer.Header.Get("ETag") != tag {
				t.Errorf("%s, length known %t: %v", name, isKnown, answer.Header)
			}
			if text := plain(t, answer); len(text) != c.bytes || answer.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s, length known %t: %d bytes, want %d; %v", name, isKnown, len(text), c.bytes, answer.Header)
			}
			if answer.ContentLength > 0 && c.compressed && answer.ContentLength >= int64(c.bytes) {
				t.Errorf("%s: %d bytes of %d", name, answer.ContentLength, c.bytes)
			}
			head := served(t, handler, http.MethodHead, "Accept-Encoding", c.accept)
			for _, name := range []string{"Content-Encoding", "ETag", "Vary"} {
				if head.Header.Get(name) != answer.Header.Get(name) {
					t.Errorf("HEAD: %s %q, GET: %q", name, head.Header.Get(name), answer.Header.Get(name))
				}
			}
		}
	}
}

func TestAcceptEncodingIsReadByItsWeights(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"gzip": true, "GZIP": true, "x-gzip": true, "br, gzip": true, "gzip;q=0.001": true, "gzip ; Q=0.5": true, "*": true, "*;q=0.1": true,
		"gzip, identity": true, "gzip;q=0.5, *;q=0": true, "identity;q=0.2, gzip;q=0.3": true, "identity;q=0, gzip": true,
		"": false, "identity": false, "br": false, "gzip;q=0": false, "gzip;q=0.000": false, "gzip;q=0, *": false, "*;q=0": false,
		"gzip;q=x": false, "gzip;q=2": false, "gzip;q=": false, "gzip;level=1": false, "x-gzip-like": false, "identity, *;q=0.5": false,
		"identity;q=1, gzip;q=0.9": false, `gzip;q="1"`: false,
	} {
		if got := httpx.AcceptsGzip(http.Header{"Accept-Encoding": {accept}}); got != want {
			t.Errorf("%q: %t", accept, got)
		}
	}
	if !httpx.AcceptsGzip(http.Header{"Accept-Encoding": {"br", "gzip"}}) || httpx.AcceptsGzip(nil) {
		t.Error("a second header, or none, is read wrong")
	}
}

func TestHandlersSeeTheTagsThatTheyGave(t *testing.T) {
	t.Parallel()
	var match, noneMatch string
	handler := httpx.Compress(1)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		match, noneMatch = r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		w.Header().Set("ETag", `"v3"`)
		if httpx.NoneMatch(r.Header, `"v3"`) {
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	for name, c := range map[string]struct{ accept, sent, match, noneMatch, tag string }{
		"what was compressed":           {"gzip", `"v3-gzip"`, `"v3"`, `"v3"`, `"v3-gzip"`},
		"one of several":                {"gzip", `"v2-gzip", W/"v3-gzip"`, `"v2", W/"v3"`, `"v2", W/"v3"`, `"v3-gzip"`},
		"what was not":                  {"gzip", `"v3"`, `"v3"`, `"v3"`, `"v3"`},
		"what is not accepted any more": {"", `"v3-gzip"`, `"v3"`, `"v3-gzip"`, `"v3"`},
	} {
		answer := served(t, handler, http.MethodGet, "Accept-Encoding", c.accept, "If-Match", c.sent, "If-None-Match", c.sent)
		if match != c.match || noneMatch != c.noneMatch || answer.Header.Get("ETag") != c.tag {
			t.Errorf("%s: %s, %s, answered %v", name, match, noneMatch, answer.Header)
		}
		if want := strings.Contains(c.noneMatch, `"v3"`); (answer.StatusCode == http.StatusNotModified) != want {
			t.Errorf("%s: %d", name, answer.StatusCode)
		}
	}
}

func TestWhatFindsNoCompressorGoesOutAsItIs(t *testing.T) {
	t.Parallel()
	busy, free := make(chan struct{}), make(chan struct{})
	handler := httpx.Compress(1)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answering("application/json", 5000, true)(w, r)
		if r.Method == http.MethodPost {
			_ = http.NewResponseController(w).Flush()
			close(busy)
			<-free
		}
	}))
	first := make(chan *http.Response, 1)
	go func() { first <- served(t, handler, http.MethodPost, "Accept-Encoding", "gzip") }()
	<-busy
	second := served(t, handler, http.MethodGet, "Accept-Encoding", "gzip")
	if second.Header.Get("Content-Encoding") != "" || second.Header.Get("ETag") != `"v3"` || len(plain(t, second)) != 5000 {
		t.Errorf("while the one compressor is busy: %v", second.Header)
	}
	if head := served(t, handler, http.MethodHead, "Accept-Encoding", "gzip"); head.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("HEAD, which needs none: %v", head.Header)
	}
	close(free)
	if answer := <-first; answer.Header.Get("Content-Encoding") != "gzip" || len(plain(t, answer)) != 5000 {
		t.Errorf("the first: %v", answer.Header)
	}
	third := served(t, handler, http.MethodGet, "Accept-Encoding", "gzip")
	if third.Header.Get("Content-Encoding") != "gzip" || len(plain(t, third)) != 5000 {
		t.Errorf("after it: %v", third.Header)
	}
}

func TestAHandlerThatPanicsGivesItsCompressorBack(t *testing.T) {
	t.Parallel()
	handler := httpx.Compress(1)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answering("application/json", 5000, true)(w, r)
		if r.Method == http.MethodDelete {
			panic(http.ErrAbortHandler)
		}
	}))
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			r := httptest.NewRequest(http.MethodDelete, "/", nil)
			r.Header.Set("Accept-Encoding", "gzip")
			handler.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	if answer := served(t, handler, http.MethodGet, "Accept-Encoding", "gzip"); answer.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", answer.Header)
	}
}

func TestWhatIsFlushedLeavesAtOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"little": "hello", "much": strings.Repeat("hello ", 1000)} {
		goOn := make(chan struct{})
		handler := httpx.Compress(1)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
			<-goOn
			_, _ = io.WriteString(w, text)
		}))
		answer := served(t, handler, http.MethodGet, "Accept-Encoding", "gzip")
		body := decoded(t, answer)
		first := make([]byte, len(text))
		if _, err := io.ReadFull(body, first); err != nil || string(first) != text { // would not come before the end
			t.Errorf("%s: %d bytes, %v", name, len(first), err)
		}
		close(goOn)
		if rest, err := io.ReadAll(body); err != nil || string(rest) != text {
			t.Errorf("%s: %d more bytes, %v", name, len(rest), err)
		}
	}
}

func TestWhoAsksForNothingPaysNothing(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	bare := answering("application/json", 16, true)
	allocations := func(h http.Handler) float64 {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		return testing.AllocsPerRun(100, func() { h.ServeHTTP(httptest.NewRecorder(), r) })
	}
	if without, with := allocations(bare), allocations(httpx.Compress(1)(bare)); with > without {
		t.Errorf("%v allocations, %v without", with, without)
	}
}
