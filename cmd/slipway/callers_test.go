package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	main "slipway/cmd/slipway"
	"slipway/internal/base/actor"
	"slipway/internal/test/worldtest"
)

// say sends a request over a connection of its own, from an address of this machine, and gives the answer
// with its body. header is lines of it.
func say(t *testing.T, from, url, path, header string) (*http.Response, string) {
	t.Helper()
	return over(t, connect(t, from, url), path, header)
}

func connect(t *testing.T, from, url string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	conn, err := d.DialContext(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

func over(t *testing.T, conn net.Conn, path, header string) (*http.Response, string) {
	t.Helper()
	if !strings.Contains(header, "Host: ") {
		header = "Host: localhost\r\n" + header
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\n%s\r\n", path, header); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// busy opens a connection without a token and returns once the server reads the body of its request, which does not come.
// A connection that was answered just before gives way only once the server has seen that too: until then one is refused.
func busy(t *testing.T, from, url string) {
	t.Helper()
	const header = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"
	for deadline := time.Now().Add(patience); ; {
		conn := connect(t, from, url)
		if _, err := io.WriteString(conn, header); err != nil {
			t.Fatal(err)
		}
		answer, err := bufio.NewReader(conn).ReadString('\n')
		if err == nil && strings.Contains(answer, "100 Continue") {
			return
		}
		if err != nil || !strings.Contains(answer, "429") || time.Now().After(deadline) {
			t.Fatalf("the server reads no body: %q, %v", answer, err)
		}
		_ = conn.Close()
	}
}

func TestAnAddressHasSoManyConnectionsWithoutAGoodToken(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	s := serve(t, "--database", url, "--max-anonymous-connections", "3")
	good := "Authorization: Bearer " + w.Acme.Tokens[actor.Viewer] + "\r\n"
	const rest, graphQL, here, elsewhere = "/module-definitions", "/graphql?query=%7B__typename%7D", "127.0.0.1", "127.0.0.2"

	for range 5 { // that say nothing, and give way
		connect(t, here, s.API)
	}
	for range 2 {
		busy(t, here, s.API)
	}
	if answer, body := say(t, here, s.API, rest, ""); answer.StatusCode != 200 || answer.Close {
		t.Fatalf("the last one within the limit: %d %s", answer.StatusCode, body)
	}
	busy(t, here, s.API)
	for path, begins := range map[string]string{rest: `{"code":"`, graphQL: `{"errors":[{"message":"`, "/playground": `{"code":"`, "/nothing": `{"code":"`} {
		answer, body := say(t, here, s.API, path, "")
		if answer.StatusCode != 429 || answer.Header.Get("Retry-After") != "5" || !answer.Close || !strings.HasPrefix(body, begins) {
			t.Errorf("%s: one over the limit: %d %v %s", path, answer.StatusCode, answer.Header, body)
		}
		for _, part := range []string{"slipway:Request:RATE_LIMITED", "as it may, 3 (--max-anonymous-connections)", `"limit":"anonymousConnections"`, `"value":3`} {
			if !strings.Contains(body, part) {
				t.Errorf("%s: no %s in %s", path, part, body)
			}
		}
	}
	for _, path := range []string{rest, graphQL} {
		if answer, body := say(t, here, s.API, path, "Authorization: Bearer nonsense\r\n"); answer.StatusCode != 401 || !answer.Close {
			t.Errorf("%s: a bad token over the limit: %d %s", path, answer.StatusCode, body)
		}
		if answer, body := say(t, here, s.API, path, good); answer.StatusCode != 200 {
			t.Errorf("%s: a good token over the limit: %d %s", path, answer.StatusCode, body)
		}
		if answer, body := say(t, elsewhere, s.API, path, ""); answer.StatusCode != 200 {
			t.Errorf("%s: another address: %d %s", path, answer.StatusCode, body)
		}
	}
}

func TestAConnectionIsFreeOfTheLimitOnceAGoodTokenCameOnIt(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	s := serve(t, "--database", url, "--max-anonymous-connections", "1")
	token := w.Acme.Tokens[actor.Viewer]
	const rest, graphQL, here = "/module-definitions", "/graphql?query=%7B__typename%7D", "127.0.0.1"

	for _, path := range []string{rest, graphQL} {
		for range 3 {
			conn := connect(t, here, s.API)
			if answer, body := over(t, conn, path, "Authorization: Bearer "+token+"\r\n"); answer.StatusCode != 200 || answer.Close {
				t.Errorf("%s: %d %s", path, answer.StatusCode, body)
			}
		}
	}
	p := w.Fixture(t, w.Acme, "web")
	id := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID
	for range 3 {
		following(t, s.API, token, id)
	}
	busy(t, here, s.API)
	if answer, body := say(t, here, s.API, rest, ""); answer.StatusCode != 429 {
		t.Errorf("the second one without a token: %d %s", answer.StatusCode, body)
	}
}

func TestATrustedProxysConnectionsHaveNoLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--max-anonymous-connections", "1", "--trusted-proxies", "10.0.0.0/8, 127.0.0.2/32")
	for range 5 {
		if answer, body := over(t, connect(t, "127.0.0.2", s.API), "/module-definitions", ""); answer.StatusCode != 200 {
			t.Errorf("%d %s", answer.StatusCode, body)
		}
	}
}

func TestAServerOnLoopbackRefusesOtherHosts(t *testing.T) {
	t.Parallel()
	const here = "127.0.0.1"
	for name, c := range map[string]struct {
		flags []string
		host  string
		want  int
	}{
		"this machine":        {nil, "localhost:8080", 200},
		"another name":        {nil, "evil.example", 421},
		"the base URL's host": {[]string{"--base-url", "https://slipway.example/api"}, "slipway.example", 200},
		"not the base URL's":  {[]string{"--base-url", "https://slipway.example/api"}, "evil.example", 421},
		"by a trusted proxy":  {[]string{"--trusted-proxies", "127.0.0.0/8"}, "slipway.example", 200},
		"by one that is not":  {[]string{"--trusted-proxies", "10.0.0.0/8"}, "slipway.example", 421},
		"on every address":    {[]string{"--listen", "0.0.0.0:0"}, "slipway.example", 200},
		"on localhost":        {[]string{"--listen", "localhost:0"}, "evil.example", 421},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, append([]string{"--database", file(t)}, c.flags...)...)
			if answer, body := say(t, here, s.API, "/module-definitions", "Host: "+c.host+"\r\n"); answer.StatusCode != c.want {
				t.Errorf("%d %s, want %d", answer.StatusCode, body, c.want)
			}
		})
	}
}

func TestProfilesHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--debug-listen", "127.0.0.1:0")
	for url, want := range map[string]int{
		s.Profiles + "/debug/pprof/heap": 200, s.Health + "/debug/pprof/heap": 404, s.API + "/debug/pprof/heap": 404,
		s.Health + "/healthz": 200, s.Profiles + "/healthz": 404,
	} {
		if got := status(t, url, ""); got != want {
			t.Errorf("%s: %d, want %d", url, got, want)
		}
	}
	if answer, _ := say(t, "127.0.0.1", s.Profiles, "/debug/pprof/cmdline", "Host: evil.example\r\n"); answer.StatusCode != 421 {
		t.Errorf("another Host: %d", answer.StatusCode)
	}
	if s := serve(t, "--database", file(t)); s.Profiles != "" {
		t.Errorf("without the flag they are served at %s", s.Profiles)
	}
}

func TestHealthIsServedToThisMachineAloneAndBesideSilentConnections(t *testing.T) {
	t.Parallel()
	s := serve(t, "--database", file(t), "--debug-listen", "127.0.0.1:0")
	for _, url := range []string{s.Health, s.Profiles} {
		for range 200 {
			silent, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = silent.Close() })
		}
	}
	for url, want := range map[string]int{s.Health + "/healthz": 200, s.Health + "/metrics": 200, s.Profiles + "/debug/pprof/cmdline": 200} {
		if got := status(t, url, ""); got != want {
			t.Errorf("%s beside 200 silent connections: %d, want %d", url, got, want)
		}
	}
	if answer, _ := say(t, "127.0.0.1", s.Health, "/metrics", "Host: evil.example\r\n"); answer.StatusCode != 421 {
		t.Errorf("another Host: %d", answer.StatusCode)
	}
}

func TestConnectionsOfHealthAndProfilesAreBoundedInTimeAndNumber(t *testing.T) {
	t.Parallel()
	s := main.Aside(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 {
		t.Fatalf("without limit: %+v", s)
	}
	if s.ConnState == nil {
		t.Fatal("connections are not counted")
	}
	one, other := net.Pipe()
	t.Cleanup(func() { _, _ = one.Close(), other.Close() })
	var open []*pipeEnd
	for range 65 {
		c := &pipeEnd{Conn: one}
		s.ConnState(c, http.StateNew)
		open = append(open, c)
	}
	for i, c := range open {
		if c.closed != (i == 0) {
			t.Errorf("connection %d of 65 is closed: %t", i, c.closed)
		}
	}
}

// pipeEnd is a connection that records that it was closed.
type pipeEnd struct {
	net.Conn
	closed bool
}

func (p *pipeEnd) Close() error {
	p.closed = true
	return nil
}
