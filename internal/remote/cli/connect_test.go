package cli_test

import (
	"compress/gzip"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestServerThatComesBackIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]http.HandlerFunc{
		"502": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502); _, _ = io.WriteString(w, "<html>") },
		"503": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			_, _ = io.WriteString(w, `{"code":"slipway:Server:UNAVAILABLE","message":"Shutting down."}`)
		},
		"504":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(504) },
		"429":     func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) },
		"cut off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) < 3 {
					away(w, r)
					return
				}
				_, _ = io.WriteString(w, viewerAnswer)
			})
			o := newHome(t).at(s.URL, "slp_secret").run(t, "whoami")
			if o.code != 0 || !strings.Contains(o.stdout, "mira") || asked.Load() != 4 { // the last is of what awaits an approval
				t.Errorf("%d requests, %+v", asked.Load(), o)
			}
			if strings.Count(o.stderr, "trying again for 2s") != 1 {
				t.Errorf("said %s", o.stderr)
			}
		})
	}
}

func TestServerThatStaysAwayIsToldInTheEnd(t *testing.T) {
	t.Parallel()
	h := newHome(t).at("http://"+testkit.ClosedAddress(t), "slp_secret")
	o := h.mustFail(t, 1, []string{h.variables["SLIPWAY_SERVER"] + " cannot be reached: dial tcp"}, "whoami")
	if strings.Contains(o.stderr, "secret") {
		t.Error(o.stderr)
	}
	s := answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) })
	newHome(t).at(s.URL, "slp_secret").mustFail(t, 1, []string{s.URL + ": it answered 502 Bad Gateway"}, "whoami")
}

func TestServerThatDiesAndReturns(t *testing.T) {
	t.Parallel()
	first := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	address := first.Listener.Addr().String()
	back := make(chan *httptest.Server, 1)
	first.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		go func() {
			first.Close()
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
			if err != nil {
				t.Error(err)
				back <- nil
				return
			}
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, viewerAnswer) }))
			_ = s.Listener.Close()
			s.Listener = l
			s.Start()
			back <- s
		}()
		panic(http.ErrAbortHandler)
	})
	h := newHome(t).at(first.URL, "slp_secret")
	h.config.Patience = patience
	h.must(t, "whoami")
	if s := <-back; s != nil {
		s.Close()
	}
}

func TestSlowServerIsGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := answering(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	h := newHome(t).at(s.URL, "slp_secret")
	h.config.Timeout, h.config.Patience = 50*time.Millisecond, 200*time.Millisecond
	h.mustFail(t, 1, []string{s.URL + " does not answer within 50ms"}, "whoami")
}

func TestInterruptedCommandExitsWith130(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	s := answering(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		interrupt()
		<-r.Context().Done()
	})
	var stderr strings.Builder
	if code := newHome(t).at(s.URL, "slp_secret").execute(ctx, io.Discard, &stderr, "whoami"); code != 130 || stderr.String() != "slipway: interrupted\n" {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

func TestAnswerThatIsNotSlipwaysSaysWhatToLookAt(t *testing.T) {
	t.Parallel()
	elsewhere := recording(t)
	for name, test := range map[string]struct {
		handle http.HandlerFunc
		code   int
		says   []string
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") }, 1,
			[]string{"it answered 200 OK", "which Slipway does not send", "the path before /graphql"}},
		"no such page": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); _, _ = io.WriteString(w, "<html>") }, 1,
			[]string{"it answered 404 Not Found", "the path before /graphql"}},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.url+"/graphql", http.StatusFound)
		}, 1,
			[]string{"302 Found", elsewhere.url + "/graphql", "not followed"}},
		"a sign-in": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401); _, _ = io.WriteString(w, "<html>") }, 4,
			[]string{"401 Unauthorized", "something before it asks who you are"}},
		"too much": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":{"viewer":{"name":"`)
			for range 17 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
			}
		}, 1, []string{"more than 16777216 bytes"}},
		"too much, packed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			for range 17 {
				_, _ = io.WriteString(packed, strings.Repeat("x", 1<<20))
			}
			_ = packed.Close()
		}, 1, []string{"more than 16777216 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := answering(t, test.handle)
			newHome(t).at(s.URL, "slp_secret").mustFail(t, test.code, append(test.says, s.URL)[:len(test.says)], "whoami")
		})
	}
	t.Cleanup(func() {
		if heard := elsewhere.heard(); heard != "" {
			t.Errorf("the token went on to %s", heard)
		}
	})
}

func TestServerMayBeBehindAPath(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	proxy := answering(t, http.StripPrefix("/tools/slipway", w.Handler()).ServeHTTP)
	h := newHome(t)
	h.typing(w.Acme.Tokens[actor.Admin]).must(t, "login", "--server", proxy.URL+"/tools/slipway/", "--context", "prod", "--with-token")
	h.must(t, "projects", "create", "shop", "--yes")
	if got := h.must(t, "projects", "list", "-o", "name"); got != "shop\n" {
		t.Errorf("listed %q", got)
	}
	if got := h.must(t, "api", "GET", "/module-definitions", "-o", "yaml"); !strings.HasPrefix(got, "data: []\n") {
		t.Errorf("answered %q", got)
	}
	h.with(nil).mustFail(t, 5, []string{"slipway:Organization:NOT_FOUND"}, "projects", "list", "--organization", "globex")
	if got := newHome(t).at(w.URL, w.Superadmin).must(t, "projects", "list", "--organization", "acme", "-o", "name"); got != "shop\n" {
		t.Errorf("listed %q", got)
	}
}

func TestRetryAfterIsKeptTo(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer slp_long" || asked.Add(1) == 1 {
			w.Header().Set("Retry-After", map[bool]string{true: "3600", false: "1"}[r.Header.Get("Authorization") == "Bearer slp_long"])
			w.WriteHeader(429)
			_, _ = io.WriteString(w, `{"code":"slipway:Request:RATE_LIMITED","message":"Later."}`)
			return
		}
		_, _ = io.WriteString(w, viewerAnswer)
	})
	h := newHome(t).at(s.URL, "slp_short")
	h.config.Patience = patience
	begun := time.Now()
	h.must(t, "whoami")
	if took := time.Since(begun); took < time.Second {
		t.Errorf("asked again after %s", took)
	}
	h = h.at(s.URL, "slp_long")
	begun = time.Now()
	h.mustFail(t, 5, []string{"Later."}, "whoami")
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("waited %s for nothing", took)
	}
}

func TestServerThatIsNotTheOneIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	unknown := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(unknown.Close)
	plain := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	for server, says := range map[string]string{
		unknown.URL: "certificate signed by unknown authority",
		strings.Replace(plain.URL, "http://", "https://", 1): "server gave HTTP response to HTTPS client",
	} {
		h := newHome(t).at(server, "slp_secret")
		if o := h.mustFail(t, 1, []string{server + " cannot be reached", says}, "whoami"); strings.Contains(o.stderr, "trying again") {
			t.Errorf("said %s", o.stderr)
		}
	}
}

func TestTokenThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	file := write(t, "token", strings.Repeat("x", 64<<10+1))
	newHome(t).mustFail(t, 1, []string{file + ": want at most 65536 bytes, found more"}, "whoami", "--server", "https://127.0.0.1:1", "--token-file", file)
	empty := write(t, "token", " \n")
	newHome(t).mustFail(t, 1, []string{empty + ": want a token"}, "whoami", "--server", "https://127.0.0.1:1", "--token-file", empty)
}
