package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/origin"
	"slipway/internal/edge/quota"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
	"slipway/web"
)

// origins reads a list as a flag would have it.
func origins(t *testing.T, list ...string) (patterns []origin.Pattern) {
	t.Helper()
	for _, text := range list {
		p, err := origin.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, p)
	}
	return patterns
}

const (
	app   = "https://app.example"
	evil  = "https://evil.example"
	query = `{"query":"{ __typename }"}`
)

// upgrade are the headers of a handshake, besides its Origin.
var upgrade = []string{
	"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==",
	"Sec-WebSocket-Protocol", "graphql-transport-ws",
}

// refusedFor reports whether an answer is the refusal of an origin, in the form of its surface, which names the flag.
func refusedFor(t *testing.T, resp *http.Response, body, sent string) bool {
	t.Helper()
	var refusal struct {
		fault.Data
		Errors []struct {
			Message    string
			Extensions fault.Data
		}
	}
	if resp.StatusCode != http.StatusForbidden || json.Unmarshal([]byte(body), &refusal) != nil {
		return false
	}
	message, data := refusal.Message, refusal.Data
	if len(refusal.Errors) == 1 {
		message, data = refusal.Errors[0].Message, refusal.Errors[0].Extensions
	}
	return data.Code == string(fault.RequestCrossOrigin) && strings.Contains(message, "--allowed-origins") && strings.Contains(message, fmt.Sprintf("%q", sent)) &&
		data.Metadata["origin"] == sent && data.Metadata["flag"] == "--allowed-origins" && len(resp.Header.Values("Access-Control-Allow-Origin")) == 0
}

func TestOneMatcherJudgesAllThatAPageSends(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{
		"own":    nil,
		"listed": {app, "http://localhost:*", "https://[2001:db8::1]:8443", "https://xn--bcher-kva.example"},
		"every":  {"*"},
	}
	for kind, list := range lists {
		_, s, _ := serve(t, server.Config{BaseURL: "https://Base.example:443/slipway", Origins: origins(t, list...)})
		for sent, allowedBy := range map[string]string{
			app: "listed every", "https://base.example": "own listed every", "http://base.example": "every", s.URL: "own listed every",
			"http://localhost:5173": "listed every", "http://localhost:1.evil": "every", "https://localhost:5173": "every",
			"https://[2001:db8::1]:8443": "listed every", "https://[2001:db8::1]": "every", "https://xn--bcher-kva.example": "listed every",
			"https://APP.example": "every", "https://app.example:443": "every", "https://app.example/": "every", "https://app.example/x": "every",
			"https://app.example.evil.example": "every", "http://app.example": "every", "null": "every", evil: "every",
		} {
			want := slices.Contains(strings.Fields(allowedBy), kind)
			for what, ask := range map[string]struct {
				method, path, body string
				header             []string
				status             int
			}{
				"a query":        {"POST", "/graphql", query, []string{"Content-Type", "application/json", "Sec-Fetch-Site", "cross-site"}, 200},
				"an old browser": {"POST", "/graphql", query, []string{"Content-Type", "application/json"}, 200},
				"a stream":       {"POST", "/graphql", query, []string{"Content-Type", "application/json", "Accept", "text/event-stream", "Sec-Fetch-Site", "cross-site"}, 200},
				"a read":         {"GET", "/module-definitions", "", []string{"Sec-Fetch-Site", "cross-site"}, 200},
				"a write":        {"POST", "/deployments/x/rollback", "", []string{"Sec-Fetch-Site", "same-site"}, 401},
				"the contract":   {"GET", "/openapi.json", "", nil, 200},
				"a preflight":    {"OPTIONS", "/graphql", "", []string{"Access-Control-Request-Method", "POST", "Sec-Fetch-Site", "cross-site"}, 200},
				"a handshake":    {"GET", "/graphql", "", upgrade, 101},
			} {
				resp, body := send(t, ask.method, s.URL+ask.path, ask.body, append(slices.Clone(ask.header), "Origin", sent)...)
				if got := resp.StatusCode == ask.status; want && (!got || resp.Header.Get("Access-Control-Allow-Origin") != sent) {
					t.Errorf("%s, %s from %s: %d %v %s", kind, what, sent, resp.StatusCode, resp.Header, body)
				}
				if !want && !refusedFor(t, resp, body, sent) {
					t.Errorf("%s, %s from %s is not refused: %d %v %s", kind, what, sent, resp.StatusCode, resp.Header, body)
				}
				if len(resp.Header.Values("Access-Control-Allow-Credentials")) > 0 || !slices.Contains(resp.Header.Values("Vary"), "Origin") {
					t.Errorf("%s, %s from %s: %v", kind, what, sent, resp.Header)
				}
			}
		}
	}
}

func TestWhatABrowserSaysOfItsOwnPagesHoldsBehindAProxyThatChangesTheHost(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{})
	for site, want := range map[string]int{"same-origin": 200, "none": 200, "same-site": 403, "cross-site": 403, "": 403} {
		resp, body := send(t, "POST", s.URL+"/graphql", query, "Content-Type", "application/json", "Origin", "https://public.example", "Sec-Fetch-Site", site)
		if resp.StatusCode != want {
			t.Errorf("%q: %d %s", site, resp.StatusCode, body)
		}
	}
	// A page that does not say where it is from is not one that every origin stands for.
	_, every, _ := serve(t, server.Config{Origins: origins(t, "*")})
	if resp, body := send(t, "POST", every.URL+"/deployments/x/rollback", "", "Sec-Fetch-Site", "cross-site"); !refusedFor(t, resp, body, "") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	// A link is no page that reads.
	if resp, body := send(t, "GET", s.URL+"/openapi.json", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestEveryOriginHoldsForNoCredentialsThatAPageCannotSend(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Origins: origins(t, "*", app)})
	bearer := "Bearer " + w.Acme.Tokens[actor.Developer]
	for _, c := range []struct {
		what, method, path string
		header             []string
		every              int
	}{
		{"a socket", "GET", "/graphql", upgrade, 101},
		{"a socket with a token", "GET", "/graphql", append(slices.Clone(upgrade), "Authorization", bearer), 403},
		{"a socket with a cookie", "GET", "/graphql", append(slices.Clone(upgrade), "Cookie", "a=b"), 403},
		{"a write with a token", "POST", "/deployments/x/rollback", []string{"Authorization", bearer}, 404},
		{"a write with a cookie", "POST", "/deployments/x/rollback", []string{"Authorization", bearer, "Cookie", "a=b"}, 403},
	} {
		resp, body := send(t, c.method, s.URL+c.path, "", append(slices.Clone(c.header), "Origin", evil)...)
		if resp.StatusCode != c.every || c.every == 403 && !refusedFor(t, resp, body, evil) {
			t.Errorf("%s: %d %s", c.what, resp.StatusCode, body)
		}
		if resp, body := send(t, c.method, s.URL+c.path, "", append(slices.Clone(c.header), "Origin", app)...); resp.StatusCode == 403 {
			t.Errorf("%s, from a listed origin: %d %s", c.what, resp.StatusCode, body)
		}
	}
}

func TestAPreflightIsAnsweredForEveryMethodOfEveryPath(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{Playground: true, Origins: origins(t, app)})
	const names = "authorization,content-type,idempotency-key,if-match,slipway-organization,traceparent,x-request-id"
	for _, path := range []string{
		"/graphql", "/openapi.json", "/module-definitions", "/default-value-definitions/x", "/deployments/x", "/deployments/x/rollback", "/deployments/x/redeploy", "/nothing",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"} {
			resp, body := send(t, "OPTIONS", s.URL+path, "", "Origin", app, "Access-Control-Request-Method", method, "Access-Control-Request-Headers", names)
			for name, want := range map[string]string{
				"Access-Control-Allow-Origin": app, "Access-Control-Allow-Methods": method, "Access-Control-Max-Age": "7200", "Access-Control-Allow-Credentials": "",
				"Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, If-Match, Slipway-Organization, Traceparent, X-Request-Id",
			} {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s %s: %s is %q, want %q", method, path, name, got, want)
				}
			}
			if resp.StatusCode != 200 || body != "" {
				t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, body)
			}
		}
	}
}

func TestAPreflightMayAskForSoManyHeadersOnly(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{Origins: origins(t, app)})
	for bytes, want := range map[int]int{2048: 200, 2049: 400} {
		resp, body := send(t, "OPTIONS", s.URL+"/graphql", "", "Origin", app, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", strings.Repeat("x", bytes))
		if resp.StatusCode != want || want == 400 && !strings.Contains(body, "at most 2048 bytes together; found 2049") {
			t.Errorf("%d bytes: %d %s", bytes, resp.StatusCode, body)
		}
	}
}

func TestPagesOfAllowedOriginsReadWhatTheyNeedOfEveryAnswer(t *testing.T) {
	t.Parallel()
	w, s, _ := serve(t, server.Config{Origins: origins(t, app), Bucket: quota.Bucket{Capacity: 1000, PerSecond: 1}})
	place := w.Fixture(t, w.Acme, "shop")
	done := place.Succeeded(t)
	bearer := []string{"Authorization", "Bearer " + w.Acme.Tokens[actor.Developer]}
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
		readable           string
	}{
		{"GET", "/deployments/" + done.ID, "", bearer, 200, "ETag RateLimit-Limit RateLimit-Remaining RateLimit-Reset X-Request-Id"},
		{"POST", "/deployments/" + done.ID + "/rollback", "", bearer, 201, "Location X-Request-Id"},
		{"POST", "/graphql", query, append(bearer, "Content-Type", "application/json"), 200, "RateLimit-Remaining X-Request-Id"},
		{"GET", "/deployments/x", "", []string{"Authorization", "Bearer x"}, 401, "WWW-Authenticate"},
		{"POST", "/graphql", query, []string{"Authorization", "Bearer x", "Content-Type", "application/json"}, 401, "WWW-Authenticate"},
		{"GET", "/nothing", "", nil, 404, "X-Request-Id"},
		{"PUT", "/graphql", "", nil, 405, "X-Request-Id"},
	} {
		resp, body := send(t, c.method, s.URL+c.path, c.body, append(slices.Clone(c.header), "Origin", app)...)
		if resp.StatusCode != c.status || resp.Header.Get("Access-Control-Allow-Origin") != app {
			t.Errorf("%s %s: %d %v %s", c.method, c.path, resp.StatusCode, resp.Header, body)
		}
		exposed := strings.Split(resp.Header.Get("Access-Control-Expose-Headers"), ", ")
		for _, name := range strings.Fields(c.readable) {
			if resp.Header.Get(name) == "" || !slices.Contains(exposed, http.CanonicalHeaderKey(name)) {
				t.Errorf("%s %s: %s is %q, exposed are %q", c.method, c.path, name, resp.Header.Get(name), exposed)
			}
		}
		if vary := strings.Join(resp.Header.Values("Vary"), ", "); strings.Count(vary, "Origin") != 1 {
			t.Errorf("%s %s: Vary is %q", c.method, c.path, vary)
		}
	}
}

func TestTheExplorerIsForItsOwnOriginAlone(t *testing.T) {
	t.Parallel()
	_, s, _ := serve(t, server.Config{Playground: true, Explorer: web.Config{Token: "very-secret"}, Origins: origins(t, "*", app)})
	for _, path := range []string{"/", "/playground", "/playground/", "/playground/config.json", "/playground/lite.js", "/playground/nothing"} {
		for _, header := range [][]string{
			{"Origin", app}, {"Origin", app, "Sec-Fetch-Site", "cross-site"}, {"Origin", app, "Sec-Fetch-Site", "same-origin"}, {"Origin", app, "Access-Control-Request-Method", "GET"},
		} {
			for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
				resp, body := send(t, method, s.URL+path, "", header...)
				for name := range resp.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s %v: %s", method, path, header, name)
					}
				}
				if strings.Contains(body, "very-secret") && !slices.Contains(header, "same-origin") {
					t.Errorf("%s %s %v: %s", method, path, header, body)
				}
			}
		}
		if resp, body := send(t, "POST", s.URL+path, "", "Origin", app, "Sec-Fetch-Site", "cross-site"); !refusedFor(t, resp, body, app) {
			t.Errorf("POST %s: %d %s", path, resp.StatusCode, body)
		}
	}
}

func TestAPreflightCountsForNoLimit(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	api := server.New(w.Store, server.Config{Origins: origins(t, app), Bucket: quota.Bucket{Capacity: 10, PerSecond: 1}, Log: newLogger()})
	s := httptest.NewUnstartedServer(api)
	s.Config.ConnContext, s.Config.ConnState = httpx.ConnContext, httpx.ConnState
	s.Listener = httpx.NewConnections(1, nil).Listener(s.Listener)
	s.Start()
	t.Cleanup(s.Close)

	crowd, err := net.Dial("tcp", s.Listener.Addr().String()) // has the one place that there is
	if err != nil {
		t.Fatal(err)
	}
	defer crowd.Close()
	// It is asked for its body, which does not come.
	if _, err := fmt.Fprintf(crowd, "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(crowd).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatal(line, err)
	}
	for range 30 { // many more than there is cost for, and than there are places
		resp, body := send(t, "OPTIONS", s.URL+"/graphql", "", "Origin", app, "Access-Control-Request-Method", "POST")
		if resp.StatusCode != 200 || !resp.Close || resp.Header.Get("RateLimit-Remaining") != "" {
			t.Fatalf("%d %v %s", resp.StatusCode, resp.Header, body)
		}
	}
	resp, body := send(t, "GET", s.URL+"/module-definitions", "", "Origin", app)
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Access-Control-Allow-Origin") != app || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a page cannot read that its address is crowded: %d %v %s", resp.StatusCode, resp.Header, body)
	}
}

func TestTheLogTellsOfRefusedOriginsAndIsNotFlooded(t *testing.T) {
	t.Parallel()
	_, s, log := serve(t, server.Config{})
	for i := range 60 {
		for range 2 {
			send(t, "GET", s.URL+"/module-definitions", "", "Origin", fmt.Sprintf("https://%02d.example", i))
		}
	}
	const told = `"flag":"--allowed-origins"`
	line := log.line(t, func(text string) bool { return strings.Contains(text, told) })
	if line["level"] != "WARN" || line["origin"] != "https://00.example" || line["requestId"] == "" {
		t.Errorf("%v", line)
	}
	if n := strings.Count(log.String(), told); n != 16 {
		t.Errorf("%d lines for 60 origins in a minute", n)
	}
	if n := strings.Count(log.String(), `"origin":"https://03.example"`); n != 1 {
		t.Errorf("%d lines for one origin", n)
	}
}
