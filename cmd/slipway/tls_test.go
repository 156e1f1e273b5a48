package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	main "slipway/cmd/slipway"
	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// secured is a server over TLS, and the pair that it was started with.
type secured struct {
	*serving
	pair
	cert, key string
}

func secure(t *testing.T, args ...string) *secured {
	t.Helper()
	s := &secured{pair: valid(t, "slipway.example")}
	s.cert, s.key = s.in(t, t.TempDir())
	s.serving = serve(t, append([]string{"--tls-cert", s.cert, "--tls-key", s.key}, args...)...)
	if !strings.HasPrefix(s.API, "https://") || !strings.HasPrefix(s.Health, "http://") {
		t.Fatalf("serves %s, and health at %s", s.API, s.Health)
	}
	return s
}

// client speaks one version of HTTP, with connections of its own.
func (s *secured) client(t *testing.T, version int) *http.Client {
	t.Helper()
	own := &http.Transport{TLSClientConfig: trusted(s.pair), Protocols: new(http.Protocols), ExpectContinueTimeout: patience}
	own.Protocols.SetHTTP1(version == 1)
	own.Protocols.SetHTTP2(version == 2)
	t.Cleanup(own.CloseIdleConnections)
	return &http.Client{Transport: own}
}

// dial opens a connection and goes through with its handshake.
func (s *secured) dial(t *testing.T) *tls.Conn {
	t.Helper()
	c := tls.Client(s.knock(t), &tls.Config{RootCAs: trusted(s.pair).RootCAs, ServerName: "localhost"})
	if err := c.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// knock opens a connection on which no handshake begins.
func (s *secured) knock(t *testing.T) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.API, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

func get(t *testing.T, client *http.Client, url string, headers ...string) (resp *http.Response, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err = client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(all)
}

func TestTLSIsServedByBothVersionsOfHTTP(t *testing.T) {
	t.Parallel()
	s := secure(t, "--database", file(t))
	for version := 1; version <= 2; version++ {
		resp, text := get(t, s.client(t, version), s.API+"/module-definitions")
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != version || resp.Header.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s %d %s", resp.Proto, resp.StatusCode, text)
		}
		if resp, text := get(t, s.client(t, version), s.API+"/playground", "Origin", s.API, "Sec-Fetch-Site", "same-origin"); resp.StatusCode != http.StatusOK {
			t.Errorf("/playground: %d %s", resp.StatusCode, text)
		}
		for origin, want := range map[string]int{s.API: 200, "http" + strings.TrimPrefix(s.API, "https"): 403, "https://elsewhere.example": 403} {
			if resp, text := get(t, s.client(t, version), s.API+"/module-definitions", "Origin", origin); resp.StatusCode != want {
				t.Errorf("a page of %s: %d %s", origin, resp.StatusCode, text)
			}
		}
	}
	if !strings.Contains(s.Log, "slipway init --org acme --server "+s.API) {
		t.Errorf("does not tell how to begin: %s", s.Log)
	}
	if got := status(t, s.Health+"/readyz", ""); got != http.StatusOK {
		t.Errorf("/readyz: %d", got)
	}

	resp, text := get(t, http.DefaultClient, "http"+strings.TrimPrefix(s.API, "https"))
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(text, "HTTP request to an HTTPS server") {
		t.Errorf("plain HTTP: %d %s", resp.StatusCode, text)
	}
	old := trusted(s.pair)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := tls.Dial("tcp", strings.TrimPrefix(s.API, "https://"), old); err == nil {
		t.Error("TLS 1.1 is served")
	}
}

func TestTLSDoesNotBegin(t *testing.T) {
	t.Parallel()
	good, other := valid(t, "a.example"), valid(t, "b.example")
	cert, key := good.in(t, t.TempDir())
	_, othersKey := other.in(t, t.TempDir())
	oldCert, oldKey := validWithin(t, "old.example", time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)).in(t, t.TempDir())
	half := filepath.Join(t.TempDir(), "half.crt")
	write(t, half, good.cert[:200])
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "--tls-cert: want --tls-key as well, found none", []string{"--tls-cert", cert}},
		{2, "--tls-key: want --tls-cert as well, found none", []string{"--tls-key", key}},
		{1, "/missing.crt: no such file", []string{"--tls-cert", "/missing.crt", "--tls-key", key}},
		{1, "/missing.key: no such file", []string{"--tls-cert", cert, "--tls-key", "/missing.key"}},
		{1, half + ": a part of it is no PEM", []string{"--tls-cert", half, "--tls-key", key}},
		{1, othersKey + " is none for the certificate of " + cert, []string{"--tls-cert", cert, "--tls-key", othersKey}},
		{1, oldCert + ": the certificate has expired", []string{"--tls-cert", oldCert, "--tls-key", oldKey}},
		{1, os.TempDir() + ": want a file", []string{"--tls-cert", os.TempDir(), "--tls-key", key}},
	} {
		database := file(t)
		mustFail(t, c.code, c.says, append([]string{"serve", "--database", database}, c.args...)...)
		if _, err := os.Stat(strings.TrimPrefix(database, "sqlite:")); err == nil {
			t.Errorf("%v: the database was opened", c.args)
		}
	}
}

func TestANewPairIsServedWithoutARestart(t *testing.T) {
	t.Parallel()
	s := secure(t, "--database", file(t))
	before := s.client(t, 1)
	get(t, before, s.API+"/module-definitions")
	next := valid(t, "next.example")
	next.in(t, filepath.Dir(s.cert))
	for begun := time.Now(); ; {
		c, err := tls.Dial("tcp", strings.TrimPrefix(s.API, "https://"), trusted(s.pair, next))
		if err != nil {
			t.Fatal(err)
		}
		served := c.ConnectionState().PeerCertificates[0]
		_ = c.Close()
		if served.VerifyHostname("next.example") == nil {
			break
		}
		if time.Since(begun) > patience {
			t.Fatal("the new certificate is not served")
		}
	}
	// Only the connection of before trusts the certificate of before.
	if resp, text := get(t, before, s.API+"/module-definitions"); resp.StatusCode != http.StatusOK {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

// opened opens event streams over both versions of HTTP.
func (s *secured) opened(t *testing.T, each int, token, id string) map[string][]*bufio.Reader {
	t.Helper()
	streams := map[string][]*bufio.Reader{}
	first, second := s.client(t, 1), s.client(t, 2)
	for range each {
		streams["HTTP/1.1"] = append(streams["HTTP/1.1"], listeningBy(t, first, s.API, token, id))
		streams["HTTP/2"] = append(streams["HTTP/2"], listeningBy(t, second, s.API, token, id))
	}
	return streams
}

func TestAStreamThatIsSilentForLongerThanAWriteMayTakeLivesOn(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	p := w.Fixture(t, w.Acme, "web")
	id := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID
	s := secure(t, "--database", url, "--write-timeout", "300ms", "--heartbeat", "700ms")
	for version, all := range s.opened(t, 1, w.Acme.Tokens[actor.Viewer], id) {
		for beats := 0; beats < 3; {
			line, err := all[0].ReadString('\n')
			if err != nil {
				t.Fatalf("a stream of %s: %v", version, err)
			}
			if line == ":\n" {
				beats++
			}
		}
	}
}

func TestStoppingTellsEveryOpenStreamOverTLS(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	p := w.Fixture(t, w.Acme, "web")
	id, token := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID, w.Acme.Tokens[actor.Viewer]
	s := secure(t, "--database", url, "--max-streams-per-caller", "0", "--max-streams-per-organization", "0")
	const each = 60
	streams := s.opened(t, each, token, id)
	var sockets []*websocket.Conn
	for range each {
		sockets = append(sockets, followingBy(t, s.client(t, 1), s.API, token, id))
	}
	s.stop()
	for _, conn := range sockets {
		if _, text, err := conn.Read(t.Context()); err != nil || string(text) != `{"type":"complete","id":"1"}` {
			t.Errorf("a socket's last message is %s, %v", text, err)
		}
		if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("a socket was closed with %v", err)
		}
	}
	for version, all := range streams {
		for _, in := range all {
			if rest, err := io.ReadAll(in); err != nil || !bytes.HasSuffix(rest, []byte("event: complete\ndata:\n\n")) {
				t.Errorf("a stream of %s ended with %q, %v", version, rest, err)
			}
		}
	}
	if code := <-s.done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestStoppingLetsARequestInFlightFinishOverTLS(t *testing.T) {
	t.Parallel()
	for version := 1; version <= 2; version++ {
		s := secure(t, "--database", file(t))
		asks, rest := io.Pipe()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.API+"/graphql", asks)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Expect", "100-continue") // its body is read once the handler asks for it
		client := s.client(t, version)
		answered := make(chan string, 1)
		go func() {
			resp, err := client.Do(r)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer func() { _ = resp.Body.Close() }()
			text, err := io.ReadAll(resp.Body)
			answered <- fmt.Sprint(resp.StatusCode, err, string(text))
		}()
		if _, err := io.WriteString(rest, body[:10]); err != nil {
			t.Fatal(err)
		}
		s.stop()
		for status(t, s.Health+"/readyz", "") != http.StatusServiceUnavailable {
		}
		if _, err := io.WriteString(rest, body[10:]); err != nil {
			t.Fatal(err)
		}
		_ = rest.Close()
		if got := <-answered; !strings.HasPrefix(got, "200") || !strings.Contains(got, `"__typename":"Query"`) {
			t.Errorf("HTTP/%d: the request in flight: %s", version, got)
		}
		if code := <-s.done; code != 0 {
			t.Errorf("HTTP/%d: exit code %d", version, code)
		}
	}
}

func TestAHandshakeThatDoesNotEndIsCutOff(t *testing.T) {
	t.Parallel()
	s := secure(t, "--database", file(t), "--write-timeout", "200ms")
	for _, begins := range []string{"", "\x16\x03\x01\x02\x00\x01\x00"} {
		c := s.knock(t)
		if _, err := io.WriteString(c, begins); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q: %q, %v", begins, text, err)
		}
	}
}

func TestWhoeverKnocksAtTheDoorFillsNoLog(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]bool{"info": false, "debug": true} {
		log := &testkit.Log{}
		cert, key := valid(t, "slipway.example").in(t, t.TempDir())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() {
			args := []string{"serve", "--database", file(t), "--listen", "127.0.0.1:0", "--admin-listen", "", "--tls-cert", cert, "--tls-key", key, "--log-level", level}
			done <- main.Run(ctx, args, io.Discard, log, variables{}.lookup)
		}()
		log.Line(t, func(line string) bool { return strings.Contains(line, `"msg":"serving"`) })
		url := regexp.MustCompile(`https://([0-9.:]+)`).FindStringSubmatch(log.String())[1]
		if resp, text := get(t, http.DefaultClient, "http://"+url); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
		if want {
			log.Line(t, func(line string) bool { return strings.Contains(line, "TLS handshake error") })
		}
		stop()
		<-done
		if got := strings.Contains(log.String(), "handshake"); got != want {
			t.Errorf("%s: %s", level, log)
		}
	}
}

func TestConnectionsOverTLSCountForTheirAddress(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	w := worldtest.New(t, url)
	token := w.Acme.Tokens[actor.Viewer]
	s := secure(t, "--database", url, "--max-anonymous-connections", "2")
	silent := s.knock(t)
	s.busy(t)
	s.busy(t) // and takes the place of the silent one, whose handshake had not begun
	if text, err := io.ReadAll(silent); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the silent one is open: %q, %v", text, err)
	}
	for version := 1; version <= 2; version++ {
		client := s.client(t, version)
		if resp, text := get(t, client, s.API+"/module-definitions"); resp.StatusCode != http.StatusTooManyRequests || !strings.Contains(text, "--max-anonymous-connections") {
			t.Errorf("HTTP/%d: one too many: %d %s", version, resp.StatusCode, text)
		}
		if resp, text := get(t, client, s.API+"/module-definitions", "Authorization", "Bearer "+token); resp.StatusCode != http.StatusOK {
			t.Errorf("HTTP/%d: with a good token: %d %s", version, resp.StatusCode, text)
		}
	}
}

// busy opens a connection on which a request waits for its body.
func (s *secured) busy(t *testing.T) {
	t.Helper()
	c := s.dial(t)
	_, err := fmt.Fprintf(c, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
}

func TestAGoodTokenTakesAConnectionOverTLSOutOfTheCount(t *testing.T) {
	t.Parallel()
	for version := 1; version <= 2; version++ {
		url := worldtest.SQLite(t)
		w := worldtest.New(t, url)
		s := secure(t, "--database", url, "--max-anonymous-connections", "1")
		client := s.client(t, version)
		if resp, text := get(t, client, s.API+"/module-definitions", "Authorization", "Bearer "+w.Acme.Tokens[actor.Viewer]); resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		s.busy(t)
		if resp, text := get(t, client, s.API+"/module-definitions"); resp.StatusCode != http.StatusOK { // on the connection of before
			t.Errorf("HTTP/%d: %d %s", version, resp.StatusCode, text)
		}
	}
}
