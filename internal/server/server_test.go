package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/data/store/pgconn"
	"slipway/internal/edge/auth"
	"slipway/internal/edge/jsonlog"
	"slipway/internal/server"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// logged is the log of a server.
type logged struct{ testkit.Log }

// line waits for the first line of which is reports true, and returns its members.
func (l *logged) line(t *testing.T, is func(text string) bool) map[string]any {
	t.Helper()
	text := l.Line(t, is)
	var line map[string]any
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return line
}

// serve makes a world whose server logs to the log that is given back.
func serve(t *testing.T, c server.Config) (*worldtest.World, *httptest.Server, *logged) {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	log := &logged{}
	c.Log = slog.New(jsonlog.New(log, slog.LevelDebug))
	s := httptest.NewServer(server.New(w.Store, c))
	t.Cleanup(s.Close)
	return w, s, log
}

// client asks for no coding, and follows no redirect.
var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func send(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	return sendTo(t, "", method, url, body, header...)
}

// sendTo is send with a Host, that of the URL if it is empty.
func sendTo(t *testing.T, host, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, "" // what follows is a socket's
	}
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

func TestRequestIDIsTakenOverWhereItIsWellFormed(t *testing.T) {
	t.Parallel()
	_, s, log := serve(t, server.Config{})
	for _, c := range []struct {
		sent string
		kept bool
	}{{"trace-1:a.b/c=", true}, {"", false}, {"two words", false}, {strings.Repeat("x", 129), false}, {`"><script>`, false}} {
		resp, body := send(t, "GET", s.URL+"/nothing", "", "X-Request-Id", c.sent)
		got := resp.Header.Get("X-Request-Id")
		if got == "" || (got == c.sent) != c.kept {
			t.Errorf("sent %q, got %q", c.sent, got)
		}
		var refusal fault.Data
		if err := json.Unmarshal([]byte(body), &refusal); err != nil || refusal.RequestID != got || refusal.Code != string(fault.RequestNotFound) {
			t.Errorf("body %s: %v", body, err)
		}
		if !strings.Contains(log.String(), `"requestId":"`+got+`"`) {
			t.Errorf("no log line has the request id %q", got)
		}
	}
}

func TestPanicIsAnsweredAndTheNextRequestServed(t *testing.T) {
	t.Parallel()
	log := &logged{}
	h := server.Recovered(slog.New(slog.NewTextHandler(log, nil)), func(w http.ResponseWriter, _ *http.Request, err error) {
		w.WriteHeader(fault.Status(err))
	})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret inside") }))
	s := httptest.NewServer(h)
	defer s.Close()
	for range 2 {
		resp, body := send(t, "GET", s.URL, "")
		if resp.StatusCode != http.StatusInternalServerError || strings.Contains(body, "secret") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
	}
	if !strings.Contains(log.String(), "secret inside") {
		t.Error("the panic is not in the log")
	}
}

func TestWritesFromAnotherOriginsPageAreRefusedInTheFormOfTheSurface(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{})
	token := "Bearer " + w.Acme.Tokens[actor.Developer]
	ask := func(path, body, site, accept string) (*http.Response, string) {
		return send(t, "POST", s.URL+path, body, "Authorization", token, "Content-Type", "application/json", "Sec-Fetch-Site", site, "Accept", accept)
	}
	const query, rollback = `{"query":"{ __typename }"}`, "/deployments/dep_1/rollback"
	for _, accept := range []string{"application/json", "application/graphql-response+json", "*/*"} {
		resp, body := ask("/graphql", query, "cross-site", accept)
		var refused struct {
			Errors []struct{ Extensions fault.Data }
			Data   json.RawMessage
			Code   string
		}
		if err := json.Unmarshal([]byte(body), &refused); err != nil || resp.StatusCode != http.StatusForbidden || len(refused.Errors) != 1 ||
			refused.Errors[0].Extensions.Code != string(fault.RequestCrossOrigin) || refused.Data != nil || refused.Code != "" {
			t.Errorf("GraphQL, Accept %s: %d %s", accept, resp.StatusCode, body)
		}
	}
	resp, body := ask(rollback, "", "cross-site", "*/*")
	var refused fault.Data
	if err := json.Unmarshal([]byte(body), &refused); err != nil || resp.StatusCode != http.StatusForbidden || refused.Code != string(fault.RequestCrossOrigin) {
		t.Errorf("REST: %d %s", resp.StatusCode, body)
	}
	if resp, body := ask("/graphql", query, "same-origin", "*/*"); resp.StatusCode != http.StatusOK {
		t.Errorf("GraphQL from its own page: %d %s", resp.StatusCode, body)
	}
	if resp, body := ask(rollback, "", "same-origin", "*/*"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("REST from its own page: %d %s", resp.StatusCode, body)
	}
}

func TestNoTokenReachesTheLog(t *testing.T) {
	t.Parallel()
	w, s, log := serve(t, server.Config{Introspection: true})
	good := w.Acme.Tokens[actor.Admin]
	unknown, err := auth.Generate(actor.Admin, strings.NewReader(strings.Repeat("canary!!", 4)))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{good, unknown.Reveal(), good[:len(good)-1], "slp_admin_" + strings.Repeat("A", 49)} {
		for _, header := range []string{"Bearer " + token, token, "Basic " + token} {
			send(t, "GET", s.URL+"/module-definitions", "", "Authorization", header)
			send(t, "GET", s.URL+"/deployments/"+token+"?token="+token, "", "Authorization", header)
			query, _ := json.Marshal(map[string]any{"query": `{ deployment(id: "` + token + `") { id } }`, "variables": map[string]string{"t": token}})
			send(t, "POST", s.URL+"/graphql", string(query), "Authorization", header, "Content-Type", "application/json")
		}
		if text := log.String(); strings.Contains(text, token) {
			t.Errorf("the log has the token %s", token)
		}
	}
	if !strings.Contains(log.String(), `"msg":"request"`) {
		t.Error("nothing was logged at all")
	}
}

func TestHealthSaysWhetherRequestsMayCome(t *testing.T) {
	t.Parallel()
	var down, unfit error
	writesFail := false
	health := &server.Health{
		Ping: func(context.Context) error { return down }, Fit: func(context.Context) error { return unfit }, WritesFail: func() bool { return writesFail },
	}
	s := httptest.NewServer(health.Handler())
	defer s.Close()
	expect := func(path string, status int, text string) {
		t.Helper()
		resp, body := send(t, "GET", s.URL+path, "")
		if resp.StatusCode != status || strings.TrimSpace(body) != text {
			t.Errorf("%s: %d %q, want %d %q", path, resp.StatusCode, body, status, text)
		}
	}
	expect("/healthz", 200, "ok")
	expect("/readyz", 200, "ok")
	writesFail = true
	expect("/healthz", 200, "ok")
	expect("/readyz", 200, "ok\nwrites: failing")
	down = errors.New("no route")
	expect("/healthz", 200, "ok")
	expect("/readyz", 503, "database unreachable")
	lacking := &store.SettingsError{Role: "slipway", Want: []pgconn.Setting{{Name: "jit", Value: "off"}}, Found: []string{"on"}}
	down = fmt.Errorf("connect: %w", lacking)
	expect("/readyz", 503, lacking.Error())
	down, unfit = nil, errors.New("too old")
	expect("/healthz", 200, "ok")
	expect("/readyz", 503, "too old")
	unfit, writesFail = nil, false
	expect("/readyz", 200, "ok")
	health.Drain()
	expect("/healthz", 200, "ok")
	expect("/readyz", 503, "draining")
	expect("/debug/pprof/", 404, "404 page not found")
}

func TestProfilesAreServedToThisMachineAlone(t *testing.T) {
	t.Parallel()
	local, any := httptest.NewServer(server.Profiles(true)), httptest.NewServer(server.Profiles(false))
	defer local.Close()
	defer any.Close()
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap?debug=1", "/debug/pprof/symbol"} {
		for _, c := range []struct {
			url, host string
			status    int
		}{{local.URL, "", 200}, {local.URL, "localhost:6060", 200}, {local.URL, "evil.example", 421}, {any.URL, "db-1.internal:6060", 200}} {
			if resp, body := sendTo(t, c.host, "GET", c.url+path, ""); resp.StatusCode != c.status {
				t.Errorf("%s under the Host %q: %d %.200s", path, c.host, resp.StatusCode, body)
			}
		}
	}
}

func TestHealthOnALoopbackAddressIsServedToThisMachineAlone(t *testing.T) {
	t.Parallel()
	serves := func(loopbackOnly bool) string {
		h := &server.Health{Ping: func(context.Context) error { return nil }, Metrics: http.NotFoundHandler(), LoopbackOnly: loopbackOnly}
		s := httptest.NewServer(h.Handler())
		t.Cleanup(s.Close)
		return s.URL
	}
	local, any := serves(true), serves(false)
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 404} {
		for _, c := range []struct {
			url, host string
			status    int
		}{
			{local, "", status}, {local, "localhost:9090", status}, {local, "[::1]:9090", status}, {local, "evil.example", 421},
			{local, "127.0.0.1.evil.example:9090", 421}, {any, "db-1.internal:9090", status},
		} {
			if resp, body := sendTo(t, c.host, "GET", c.url+path, ""); resp.StatusCode != c.status {
				t.Errorf("%s under the Host %q: %d %.200s, want %d", path, c.host, resp.StatusCode, body, c.status)
			}
		}
	}
}

func TestDatabaseThatIsGoneIsUnavailableOnBothSurfaces(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{})
	token := "Bearer " + w.Acme.Tokens[actor.Viewer]
	send(t, "GET", s.URL+"/module-definitions", "", "Authorization", token) // the token is verified and remembered
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	resp, body := send(t, "GET", s.URL+"/module-definitions", "", "Authorization", token)
	if resp.StatusCode < 500 || strings.Contains(body, "sql") {
		t.Errorf("REST: %d %s", resp.StatusCode, body)
	}
}

func TestExplorerIsServedWhereItIsWanted(t *testing.T) {
	t.Parallel()
	_, with, _ := serve(t, server.Config{Playground: true})
	if resp, _ := send(t, "GET", with.URL+"/", ""); resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "/playground" {
		t.Errorf("/ gives %d to %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	if resp, body := send(t, "GET", with.URL+"/playground", ""); resp.StatusCode != 200 || !strings.Contains(body, "<html") {
		t.Errorf("/playground gives %d", resp.StatusCode)
	}
	_, without, _ := serve(t, server.Config{})
	if resp, _ := send(t, "GET", without.URL+"/playground", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without the explorer /playground gives %d", resp.StatusCode)
	}
}

func TestBodyOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{MaxBody: 1000, Timeout: time.Second, Now: store.Now})
	body := `{"query":"{ __typename }","operationName":"` + strings.Repeat("a", 1000) + `"}`
	resp, got := send(t, "POST", s.URL+"/graphql", body, "Authorization", "Bearer "+w.Acme.Tokens[actor.Viewer], "Content-Type", "application/json")
	if resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(got, string(fault.RequestTooLarge)) {
		t.Errorf("%d %s", resp.StatusCode, got)
	}
}
