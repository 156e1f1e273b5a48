package httpx_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"slipway/internal/edge/httpx"
)

// crowded serves most connections at once. A request for /wait is answered when the test is over.
func crowded(t *testing.T, most int) *httptest.Server {
	t.Helper()
	over := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
	}))
	s.Config.ConnState = httpx.NewCrowd(most).ConnState
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(sync.OnceFunc(func() { close(over) }))
	return s
}

// dialed is a connection to a server.
type dialed struct {
	net.Conn
	answers *bufio.Reader
}

func dialTo(t *testing.T, s *httptest.Server) dialed {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return dialed{conn, bufio.NewReader(conn)}
}

// ask returns the status of an answer, 0 if the connection was closed.
func (d dialed) ask(path string) int {
	if _, err := io.WriteString(d, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return 0
	}
	resp, err := http.ReadResponse(d.answers, nil)
	if err != nil {
		return 0
	}
	return resp.StatusCode
}

func TestASilentConnectionGivesWayToANewOne(t *testing.T) {
	t.Parallel()
	s := crowded(t, 3)
	var silent []dialed
	for range 20 {
		silent = append(silent, dialTo(t, s))
	}
	// The last one was accepted after all others.
	if status := silent[19].ask("/"); status != http.StatusOK {
		t.Errorf("the newest: %d", status)
	}
	for i, d := range silent[:17] {
		if _, err := d.answers.ReadByte(); err == nil {
			t.Errorf("connection %d is open beside three newer ones", i)
		}
	}
	for _, d := range silent[17:] {
		if status := d.ask("/"); status != http.StatusOK {
			t.Errorf("one of the three newest: %d", status)
		}
	}
	late := dialTo(t, s)
	if status := late.ask("/"); status != http.StatusOK {
		t.Errorf("one more: %d", status)
	}
}

func TestAConnectionWithARequestUnderWayStays(t *testing.T) {
	t.Parallel()
	s := crowded(t, 2)
	one, two := dialTo(t, s), dialTo(t, s)
	if one.ask("/wait") != http.StatusOK || two.ask("/wait") != http.StatusOK {
		t.Fatal("the requests did not begin")
	}
	if status := dialTo(t, s).ask("/"); status != 0 {
		t.Errorf("a third connection: %d", status)
	}
	_ = one.Close()
	for dialTo(t, s).ask("/") != http.StatusOK { // until the server has seen the end of the first
	}
}
