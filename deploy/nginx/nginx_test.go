// Package nginx_test tries the configuration of nginx in front of a server.
package nginx_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"slipway/internal/base/actor"
	"slipway/internal/edge/jsonlog"
	"slipway/internal/server"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

const name = "slipway.example.com"

// certificate writes a pair that has signed itself, and returns the pool that trusts it.
func certificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{"slipway.crt": {Type: "CERTIFICATE", Bytes: made}, "slipway.key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(folder, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(made)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

// freePort returns a port of the loopback address on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// proxied starts nginx with slipway.conf in front of a server, with its own ports and files in the place of those of the
// guide, and returns its URL and how to ask it.
func proxied(t *testing.T, upstream string) (url string, transport *http.Transport) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no nginx")
	}
	text, err := os.ReadFile("slipway.conf")
	if err != nil {
		t.Fatal(err)
	}
	folder, port := t.TempDir(), freePort(t)
	trusted := certificate(t, folder)
	conf := string(text)
	for _, change := range [][2]string{
		{"    listen 443 ssl http2;\n", "    listen 127.0.0.1:" + port + " ssl http2;\n"},
		{"    listen [::]:443 ssl http2;\n", ""},
		{"server 127.0.0.1:8080;", "server " + strings.TrimPrefix(upstream, "http://") + ";"},
		{"/etc/nginx/tls/", folder + "/"},
	} {
		if !strings.Contains(conf, change[0]) {
			t.Fatalf("slipway.conf does not have %q", change[0])
		}
		conf = strings.ReplaceAll(conf, change[0], change[1])
	}
	whole := "daemon off;\nuser root;\npid " + folder + "/pid;\nerror_log stderr warn;\nevents {}\nhttp {\naccess_log off;\n"
	if os.Getuid() != 0 {
		whole = strings.Replace(whole, "user root;\n", "", 1)
	}
	for _, temporary := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		whole += temporary + "_temp_path " + folder + "/" + temporary + ";\n"
	}
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(whole+conf+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said testkit.Log
	nginx := exec.CommandContext(context.Background(), program, "-p", folder, "-c", file)
	nginx.Stdout, nginx.Stderr = &said, &said
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = nginx.Process.Signal(syscall.SIGTERM)
		_ = nginx.Wait()
	})
	address := "127.0.0.1:" + port
	testkit.Eventually(t, "nginx listens: "+said.String(), func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	transport = &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			// Another address than the proxy's.
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return "https://" + name, transport
}

func TestEverySurfaceWorksBehindNginx(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	var log testkit.Log
	behind := w.Serving(t, func(c *server.Config) {
		c.BaseURL, c.LoopbackOnly, c.TrustedProxies = "https://"+name, true, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.Log = slog.New(jsonlog.New(&log, slog.LevelInfo))
	})
	p := w.Fixture(t, w.Acme, "web")
	url, transport := proxied(t, behind.URL)
	client := &http.Client{Transport: transport}
	ask := func(method, path, body string, headers map[string]string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+w.Acme.Tokens[actor.Developer])
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		for header, value := range headers {
			r.Header.Set(header, value)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	text := func(r *http.Response) string {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		return string(body)
	}

	rest := ask(http.MethodGet, "/module-definitions", "", nil)
	if body := text(rest); rest.StatusCode != http.StatusOK || rest.ProtoMajor != 2 || !strings.Contains(body, p.Definition.ID) {
		t.Errorf("REST: %d by %s: %s", rest.StatusCode, rest.Proto, body)
	}
	if line := log.Line(t, func(line string) bool { return strings.Contains(line, "/module-definitions") }); !strings.Contains(line, `"client":"127.0.0.2"`) {
		t.Errorf("what a client claims is believed: %s", line)
	}
	// The server's own limit is met before the proxy's.
	large := ask(http.MethodPost, "/graphql", `{"query":"`+strings.Repeat(" ", 300<<10)+`"}`, nil)
	if body := text(large); large.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "slipway:") {
		t.Errorf("a large body: %d %s", large.StatusCode, body)
	}

	stream := ask(http.MethodPost, "/graphql", `{"query":"subscription { deploymentsChanged { kind deployment { id } } }"}`, map[string]string{"Accept": "text/event-stream"})
	events := bufio.NewScanner(stream.Body)
	socketClient := &http.Client{Transport: transport.Clone()}
	socketClient.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	socket, answer, err := websocket.Dial(t.Context(), strings.Replace(url, "https", "wss", 1)+"/graphql", &websocket.DialOptions{
		HTTPClient: socketClient, Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + w.Acme.Tokens[actor.Viewer]}},
	})
	if err != nil {
		t.Fatalf("%v: %v", err, answer)
	}
	defer func() { _ = socket.CloseNow() }()
	for _, message := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":"subscription { deploymentsChanged { deployment { id } } }"}}`} {
		if err := socket.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, "both follow", func() bool { return behind.Deploy.View.Feed.Followers() == 2 })
	made := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	for found := false; !found && events.Scan(); {
		found = strings.Contains(events.Text(), made.ID)
	}
	if err := events.Err(); err != nil {
		t.Errorf("the event stream: %v", err)
	}
	for {
		_, message, err := socket.Read(t.Context())
		if err != nil {
			t.Fatalf("the socket: %v", err)
		}
		if bytes.Contains(message, []byte(made.ID)) {
			break
		}
	}
}
