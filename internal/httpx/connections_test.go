package httpx_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/internal/httpx"
)

// Two addresses of this machine, from which tests connect.
const (
	here      = "127.0.0.1"
	elsewhere = "127.0.0.2"
)

// patience is how long anything may take that should come by itself.
const patience = 20 * time.Second

// limited is a server whose connections are limited. It says of each request whether it is within the
// limit, takes /good for one with a good token, and takes the connection of /hijack over.
type limited struct {
	*httpx.Connections
	address string
}

func limit(t *testing.T, most int, trusted ...netip.Prefix) *limited {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := httpx.NewConnections(most, trusted)
	s := &http.Server{Handler: http.HandlerFunc(say), ConnContext: httpx.ConnContext, ReadHeaderTimeout: patience}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(c.Listener(l)) }()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	return &limited{c, l.Addr().String()}
}

func say(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/good" {
		httpx.TokenIsGood(r.Context())
	}
	most, over := httpx.OverLimit(r.Context())
	text := fmt.Sprintf("%d within", most)
	if over {
		text = fmt.Sprintf("%d over", most)
	}
	if r.URL.Path != "/hijack" {
		_, _ = io.WriteString(w, text)
		return
	}
	taken, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer func() { _ = taken.Close() }()
	_, _ = fmt.Fprintf(taken, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	_, _ = io.Copy(io.Discard, taken) // until the other end closes it
}

// connection is one of a client's.
type connection struct {
	net.Conn
	answers *bufio.Reader
}

func (l *limited) connect(t *testing.T, from string) *connection {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.DialContext(t.Context(), "tcp", l.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &connection{c, bufio.NewReader(c)}
}

// ask returns the answer to a request, "closed" where the connection is.
func (c *connection) ask(path string) string {
	_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return "closed"
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *connection) want(t *testing.T, path, want string) {
	t.Helper()
	if got := c.ask(path); got != want {
		t.Errorf("%s is answered %q, want %q", path, got, want)
	}
}

// until connects until the answer is the wanted one: the server learns of closed connections by and by.
func (l *limited) until(t *testing.T, want string) {
	t.Helper()
	for begun := time.Now(); ; {
		c := l.connect(t, here)
		got := c.ask("/")
		_ = c.Close()
		if got == want {
			return
		}
		if time.Since(begun) > patience {
			t.Fatalf("still %q, want %q", got, want)
		}
	}
}

func TestAConnectionMoreThanTheLimitIsToldApart(t *testing.T) {
	t.Parallel()
	l := limit(t, 2)
	first, second, third := l.connect(t, here), l.connect(t, here), l.connect(t, here)
	for range 2 {
		third.want(t, "/", "2 over")
		first.want(t, "/", "2 within")
		second.want(t, "/", "2 within")
	}
	l.connect(t, elsewhere).want(t, "/", "2 within")
}

func TestConnectionsFarOverTheLimitAreClosed(t *testing.T) {
	t.Parallel()
	l := limit(t, 1)
	l.connect(t, here).want(t, "/", "1 within")
	for range 20 {
		l.connect(t, here).want(t, "/", "1 over")
	}
	for range 5 {
		l.connect(t, here).want(t, "/", "closed")
	}
	l.connect(t, elsewhere).want(t, "/", "1 within")
}

func TestAGoodTokenTakesItsConnectionOutOfTheCount(t *testing.T) {
	t.Parallel()
	l := limit(t, 1)
	first := l.connect(t, here)
	first.want(t, "/", "1 within")
	first.want(t, "/good", "1 within")
	first.want(t, "/good", "1 within")
	second := l.connect(t, here)
	second.want(t, "/", "1 within")
	third := l.connect(t, here)
	third.want(t, "/", "1 over")
	third.want(t, "/good", "1 within")
	third.want(t, "/", "1 within")
	l.connect(t, here).want(t, "/", "1 over")
}

func TestAConnectionThatIsClosedIsNotCounted(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/hijack", "/good"} {
		l := limit(t, 1)
		first := l.connect(t, here)
		first.want(t, path, "1 within")
		if path != "/good" {
			second := l.connect(t, here)
			second.want(t, path, "1 over")
			_ = second.Close()
		}
		_ = first.Close()
		for range 3 {
			l.until(t, "1 within")
		}
		for begun := time.Now(); l.Addresses() != 0; {
			if time.Since(begun) > patience {
				t.Fatalf("%s: %d addresses are remembered", path, l.Addresses())
			}
		}
	}
}

func TestATrustedProxysConnectionsAreNotCounted(t *testing.T) {
	t.Parallel()
	l := limit(t, 1, networks(t, "127.0.0.2/32")...)
	for range 30 {
		l.connect(t, elsewhere).want(t, "/", "1 within")
	}
	l.connect(t, here).want(t, "/", "1 within")
	l.connect(t, here).want(t, "/", "1 over")
}

func TestTheLimitIsExactForConnectionsAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := limit(t, 10)
	var connections []*connection
	for range 100 {
		connections = append(connections, l.connect(t, here))
	}
	var mu sync.Mutex
	got := map[string]int{}
	var asking sync.WaitGroup
	for _, c := range connections {
		asking.Go(func() {
			answer := c.ask("/")
			mu.Lock()
			defer mu.Unlock()
			got[answer]++
		})
	}
	asking.Wait()
	if got["10 within"] != 10 || got["10 over"] != 20 || got["closed"] != 70 {
		t.Errorf("%v", got)
	}
}

func TestWhatIsNotCountedIsWithinTheLimit(t *testing.T) {
	t.Parallel()
	if most, over := httpx.OverLimit(t.Context()); over || most != 0 {
		t.Errorf("over a limit of %d", most)
	}
	httpx.TokenIsGood(t.Context())
	path := t.TempDir() + "/socket"
	local, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := httpx.NewConnections(1, nil).Listener(local).Accept()
		if err != nil && !strings.Contains(err.Error(), "closed") {
			t.Error(err)
		}
		accepted <- c
	}()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = (<-accepted).Close()
}
