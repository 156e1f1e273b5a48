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

	"slipway/internal/edge/httpx"
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
	most    int
	address string
	// idle has a channel for each client's address, on which the server says that it waits for the next request.
	idle sync.Map
}

func limit(t *testing.T, most int, trusted ...netip.Prefix) *limited {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := httpx.NewConnections(most, trusted)
	limited := &limited{Connections: c, most: most, address: l.Addr().String()}
	s := &http.Server{
		Handler: http.HandlerFunc(say), ConnContext: httpx.ConnContext, ConnState: limited.state, ReadHeaderTimeout: patience,
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(c.Listener(l)) }()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	return limited
}

// state is the server's ConnState. It tells the client of a connection that is idle: the answer comes before.
func (l *limited) state(c net.Conn, state http.ConnState) {
	httpx.ConnState(c, state)
	if client, ok := l.idle.Load(c.RemoteAddr().String()); ok && state == http.StateIdle {
		client.(chan struct{}) <- struct{}{}
	}
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
	idle    chan struct{}
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
	idle := make(chan struct{}, 1)
	l.idle.Store(c.LocalAddr().String(), idle)
	return &connection{c, bufio.NewReader(c), idle}
}

// ask returns the answer to a request, "closed" if the connection is.
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

// want asks, and waits until the server is ready for the next request.
func (c *connection) want(t *testing.T, path, want string) {
	t.Helper()
	got := c.ask(path)
	if got != want {
		t.Errorf("%s is answered %q, want %q", path, got, want)
	}
	if got == "closed" || path == "/hijack" {
		return // there is no next request
	}

	select {
	case <-c.idle:
	case <-time.After(patience):
		t.Errorf("%s was answered, and its connection is not idle", path)
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

// silent opens connections on which nothing is said. When it returns they are counted, in their order: the last to come
// has been answered, and it is another address's.
func (l *limited) silent(t *testing.T, n int) (opened []*connection) {
	t.Helper()
	for range n {
		opened = append(opened, l.connect(t, here))
	}
	l.connect(t, elsewhere).want(t, "/good", fmt.Sprintf("%d within", l.most))
	return opened
}

// busy opens connections on which something goes on, and wants their answers.
func (l *limited) busy(t *testing.T, n int, want string) {
	t.Helper()
	for range n {
		l.connect(t, here).want(t, "/hijack", want)
	}
}

func TestOneMoreTakesThePlaceOfTheLongestSilent(t *testing.T) {
	t.Parallel()
	l := limit(t, 2)
	opened := l.silent(t, 2)
	first, second := opened[0], opened[1]
	first.want(t, "/", "2 within") // so it is silent for less long
	third := l.connect(t, here)
	third.want(t, "/", "2 within")
	second.want(t, "/", "closed")
	first.want(t, "/", "2 within") // once more
	fourth := l.connect(t, here)
	fourth.want(t, "/", "2 within")
	third.want(t, "/", "closed")
	first.want(t, "/", "2 within")
	fourth.want(t, "/", "2 within")
}

func TestSilentConnectionsLockNobodyOut(t *testing.T) {
	t.Parallel()
	const most = 30
	for _, n := range []int{most - 1, most, most + 1, most + surplus, most + surplus + 1, 3 * most} {
		l := limit(t, most)
		opened := l.silent(t, n)
		l.connect(t, here).want(t, "/", "30 within")
		l.connect(t, here).want(t, "/good", "30 within")
		if got := l.Count(here); got != [2]int{most - 1, 0} { // the good one took a place, and gave it up
			t.Errorf("of %d, %v are counted", n, got)
		}
		opened[n-1].want(t, "/", "30 within") // the newest of them
		if n >= most {
			opened[0].want(t, "/", "closed")
		}
	}
}

// surplus is how many are told that they are too many.
const surplus = 20

func TestWhereAllAreBusyOneMoreIsToldApart(t *testing.T) {
	t.Parallel()
	l := limit(t, 2)
	l.busy(t, 2, "2 within")
	over := l.connect(t, here)
	over.want(t, "/", "2 over")
	over.want(t, "/", "2 over")
	l.busy(t, surplus-1, "2 over")
	// One that is silent goes, and the next takes its place; where all are busy there is none.
	l.busy(t, 1, "2 over")
	over.want(t, "/", "closed")
	for range 5 {
		l.connect(t, here).want(t, "/", "closed")
	}
	l.connect(t, elsewhere).want(t, "/", "2 within")
	if got := l.Count(here); got != [2]int{2, surplus} {
		t.Errorf("%v are counted", got)
	}
}

func TestAGoodTokenTakesItsConnectionOutOfTheCount(t *testing.T) {
	t.Parallel()
	l := limit(t, 1)
	first := l.connect(t, here)
	first.want(t, "/", "1 within")
	first.want(t, "/good", "1 within")
	first.want(t, "/good", "1 within")
	l.busy(t, 1, "1 within")
	second := l.connect(t, here)
	second.want(t, "/", "1 over")
	second.want(t, "/good", "1 within")
	l.busy(t, surplus, "1 over")
	for _, good := range []*connection{first, second} { // silent for longest, and not counted
		good.want(t, "/", "1 within")
	}
}

func TestAConnectionThatIsClosedIsNotCounted(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/hijack", "/good"} {
		l := limit(t, 1)
		first := l.connect(t, here)
		first.want(t, path, "1 within")
		if path == "/hijack" {
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
		l.connect(t, elsewhere).want(t, "/hijack", "1 within")
	}
	l.busy(t, 1, "1 within")
	l.busy(t, 1, "1 over")
}

func TestTheLimitHoldsForConnectionsAtTheSameTime(t *testing.T) {
	t.Parallel()
	l := limit(t, 10)
	var mu sync.Mutex
	got := map[string]int{}
	var asking sync.WaitGroup
	for range 100 {
		c := l.connect(t, here)
		asking.Go(func() {
			answer := c.ask("/hijack")
			mu.Lock()
			defer mu.Unlock()
			got[answer]++
		})
	}
	asking.Wait()
	counted := l.Count(here)
	if counted[0] != 10 || counted[1] > surplus || got["10 within"] < 10 || got["10 over"] > surplus || got["10 within"]+got["10 over"]+got["closed"] != 100 {
		t.Errorf("%v, counted %v", got, counted)
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
