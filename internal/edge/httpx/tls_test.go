package httpx_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"slipway/internal/edge/httpx"
)

// packets is a listener that counts what is written to its connections since the last reset.
type packets struct {
	net.Listener
	count atomic.Int64
}

func (p *packets) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	return packetConn{conn, p}, err
}

type packetConn struct {
	net.Conn
	of *packets
}

func (c packetConn) Write(b []byte) (int, error) {
	c.of.count.Add(1)
	return c.Conn.Write(b)
}

func TestAnEventOverTLSLeavesInOnePacket(t *testing.T) {
	t.Parallel()
	count := make(chan int64, 1)
	counted := &packets{}
	s, _ := detaching(t, func(w http.ResponseWriter, _ *http.Request) {
		rc := http.NewResponseController(w)
		_, _ = io.WriteString(w, "first")
		_ = rc.SetWriteDeadline(time.Now().Add(patience))
		_ = rc.Flush()
		counted.count.Store(0)
		_, _ = io.WriteString(w, "event")
		_ = rc.Flush()
		count <- counted.count.Load()
	})
	counted.Listener = s.Listener
	s.Listener = counted
	s.StartTLS()
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "firstevent" || resp.ProtoMajor != 1 {
		t.Errorf("%s %q, %v", resp.Proto, text, err)
	}
	if got := <-count; got != 1 {
		t.Errorf("%d packets", got)
	}
}

func TestADetachedAnswerOverTLSEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	s, _ := detaching(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	})
	s.StartTLS()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	leave()
	<-ended
}

func TestWhatIsGatheredOverTLSArrivesWhole(t *testing.T) {
	t.Parallel()
	taken := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.Gather(r.Context())
		_, _ = w.Write(body(100_000))
		if r.URL.Path == "/sent" {
			_ = http.NewResponseController(w).Flush()
			_ = httpx.Send(r.Context())
			<-taken
		}
	}))
	s.Config.ConnContext, s.Config.WriteTimeout = httpx.ConnContext, patience
	s.Listener = httpx.NewConnections(10, nil).Listener(s.Listener)
	s.StartTLS()
	t.Cleanup(s.Close)
	for _, path := range []string{"/", "/", "/sent"} { // the second one on the connection of the first
		resp, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 100_000)
		if _, err := io.ReadFull(resp.Body, text); err != nil || string(text) != string(body(100_000)) {
			t.Errorf("%s: %v", path, err)
		}
		if path == "/sent" {
			close(taken)
		}
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
			t.Errorf("%s: %q, %v", path, rest, err)
		}
		_ = resp.Body.Close()
	}
}
