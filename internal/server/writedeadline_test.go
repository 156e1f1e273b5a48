package server_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"slipway/internal/edge/httpx"
	"slipway/internal/server"
)

// multiplexed serves a handler over HTTP/2, on connections that are counted as those of the program are.
func multiplexed(t *testing.T, timeout time.Duration, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(server.CutStalled(timeout)(h))
	s.EnableHTTP2, s.Config.WriteTimeout = true, timeout
	s.Config.ConnContext, s.Config.ConnState = httpx.ConnContext, httpx.ConnState
	s.Listener = httpx.NewConnections(10, nil).Listener(s.Listener)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// read gets a page over HTTP/2 and returns the text of the answer.
func read(t *testing.T, s *httptest.Server, path string) string {
	t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.ProtoMajor != 2 {
		t.Errorf("%s: %s %q, %v", path, resp.Proto, text, err)
	}
	return string(text)
}

func TestAStreamOfHTTP2MaySayNothingForLongerThanAWriteMayTake(t *testing.T) {
	t.Parallel()
	const timeout = 100 * time.Millisecond
	s := multiplexed(t, timeout, func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		for range 3 { // before the answer, and between its parts
			select {
			case <-time.After(3 * timeout):
			case <-r.Context().Done():
				t.Error("the stream was reset")
				return
			}
			_ = rc.SetWriteDeadline(time.Now().Add(timeout))
			_, _ = io.WriteString(w, "part ")
			_ = rc.Flush()
		}
	})
	if got := read(t, s, "/"); got != "part part part " {
		t.Errorf("%q", got)
	}
}

func TestAStreamOfHTTP2WhoseReaderStallsIsReset(t *testing.T) {
	t.Parallel()
	outcomes := make(chan error, 1)
	handled := sends(outcomes)
	s := multiplexed(t, 100*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			_, _ = io.WriteString(w, "small")
			return
		}
		handled(w, r)
	})
	resp, err := s.Client().Get(s.URL) // whose body is not read
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := <-outcomes; err == nil || errors.Is(err, os.ErrClosed) {
		t.Errorf("the answer was written: %v", err)
	}
	if got := read(t, s, "/small"); got != "small" { // the others of the connection are served on
		t.Errorf("%q", got)
	}
}

func TestAnswersOfOneConnectionOfHTTP2DoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	begun, proceed := make(chan struct{}), make(chan struct{})
	s := multiplexed(t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path)
		if r.URL.Path == "/slow" {
			close(begun)
			<-proceed
		}
	})
	first := make(chan string, 1)
	go func() { first <- read(t, s, "/slow") }()
	<-begun
	if got := read(t, s, "/fast"); got != "/fast" {
		t.Errorf("%q", got)
	}
	close(proceed)
	if got := <-first; got != "/slow" {
		t.Errorf("%q", got)
	}
}
