package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"slipway/internal/edge/gqlhttp/stream"
	"slipway/internal/server"
	"slipway/internal/test/worldtest"
)

const large = 16 << 20

// sends answers with many bytes and tells what became of them.
func sends(outcome chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, large))
		outcome <- err
	}
}

// pipe is a listener of one connection inside the process, whose time a test may make up.
type pipe struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (p pipe) Accept() (net.Conn, error) {
	select {
	case conn := <-p.connections:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipe) Close() error { close(p.closed); return nil }

func (pipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// over serves a handler over one such connection.
func over(t *testing.T, h http.Handler) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	l := pipe{make(chan net.Conn, 1), make(chan struct{})}
	l.connections <- far
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _, _ = near.Close(), s.Close() })
	return near
}

func TestASlowReaderGetsEverythingAndAStalledOneIsCutOff(t *testing.T) {
	t.Parallel()
	const patience = 5 * time.Second
	read := func(t *testing.T, pause time.Duration) (got int, outcome error) {
		outcomes := make(chan error, 1)
		conn := over(t, server.CutStalled(patience)(sends(outcomes)))
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
		if err != nil {
			t.Fatal(err)
		}
		for some := make([]byte, 8<<10); err == nil; {
			<-time.After(pause)
			var n int
			n, err = resp.Body.Read(some)
			got += n
		}
		return got, <-outcomes
	}
	synctest.Test(t, func(t *testing.T) {
		if got, err := read(t, 2*time.Second); got != large || err != nil {
			t.Errorf("a slow reader got %d bytes, %v", got, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if got, err := read(t, patience+time.Millisecond); got > 64<<10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a stalled reader got %d bytes, %v", got, err)
		}
	})
}

func TestAConnectionWhoseReaderStallsIsClosed(t *testing.T) {
	t.Parallel()
	outcomes := make(chan error, 1)
	closed := make(chan struct{})
	s := httptest.NewUnstartedServer(server.CutStalled(20 * time.Millisecond)(sends(outcomes)))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	stall(t, s, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-outcomes; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the answer was written: %v", err)
	}
	<-closed
}

// stall sends a request and reads nothing of its answer.
func stall(t *testing.T, s *httptest.Server, request string) {
	t.Helper()
	dialer := net.Dialer{}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
}

// TestStalledReadersOfBothSurfacesAreCutOff has the system keep little of an answer, so that it need not be
// large to stall.
func TestStalledReadersOfBothSurfacesAreCutOff(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	api := server.New(w.Store, server.Config{
		Introspection: true, Log: slog.New(slog.DiscardHandler), Streams: stream.Config{WriteTimeout: 20 * time.Millisecond},
	})
	closed := make(chan struct{}, 10)
	s := httptest.NewUnstartedServer(api)
	s.Config.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		_ = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
		return ctx
	}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	// Introspection is 100 KB.
	const query = `{"query":"{ __schema { types { name description fields { name description args { name description } } inputFields { name description } } } }"}`
	for _, request := range []string{
		fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(query), query),
		"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		stall(t, s, request)
		<-closed
	}
}
