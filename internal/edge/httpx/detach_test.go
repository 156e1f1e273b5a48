package httpx_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"slipway/internal/edge/httpx"
)

// detaching serves requests by serve, detached. The channel has an item when a handler has returned.
func detaching(t *testing.T, serve func(http.ResponseWriter, *http.Request)) (s *httptest.Server, returned <-chan struct{}) {
	t.Helper()
	has := make(chan struct{}, 1)
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { has <- struct{}{} }()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Of", "the handler")
		httpx.Detach(w, r, serve)
	}))
	t.Cleanup(s.Close)
	return s, has
}

func TestADetachedAnswerOutlivesItsHandler(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 10_000)
	proceed := make(chan struct{})
	s, returned := detaching(t, func(w http.ResponseWriter, _ *http.Request) {
		<-proceed
		out := http.NewResponseController(w)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusAccepted)
		for _, part := range []string{"first ", long, " last"} {
			_ = out.SetWriteDeadline(time.Now().Add(patience))
			if _, err := io.WriteString(w, part); err != nil {
				t.Error(err)
			}
			if err := out.Flush(); err != nil {
				t.Error(err)
			}
		}
	})
	s.Start()
	answered := make(chan *http.Response, 1)
	go func() {
		resp, err := http.Post(s.URL, "text/plain", strings.NewReader("asks")) //nolint:noctx // it ends with the server
		if err != nil {
			t.Error(err)
		}
		answered <- resp
	}()
	<-returned
	close(proceed)
	resp := <-answered
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || string(text) != "first "+long+" last" {
		t.Errorf("%v, %d bytes", err, len(text))
	}
	if resp.StatusCode != http.StatusAccepted || !resp.Close || resp.Header.Get("X-Of") != "the handler" || resp.Header.Get("Content-Type") != "text/plain" || resp.Header.Get("Date") == "" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}

func TestADetachedRequestEndsWithItsClient(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	s, returned := detaching(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
		close(ended)
	})
	s.Start()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: test\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "HTTP/1.1 200 OK\r\n" {
		t.Errorf("%q, %v", line, err)
	}
	<-returned
	_ = conn.Close()
	<-ended
}

func TestWhatCannotBeDetachedIsServedByTheHandler(t *testing.T) {
	t.Parallel()
	serve := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }
	s, returned := detaching(t, serve)
	s.EnableHTTP2 = true
	s.StartTLS()
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	<-returned
	if text, err := io.ReadAll(resp.Body); string(text) != "HTTP/2.0" || resp.Header.Get("X-Of") != "the handler" {
		t.Errorf("%q, %v", text, err)
	}
	old, oldReturned := detaching(t, serve)
	old.Start()
	conn, err := net.Dial("tcp", old.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
	<-oldReturned
	if text, err := io.ReadAll(conn); !strings.HasSuffix(string(text), "\r\n\r\nHTTP/1.0") || strings.Contains(string(text), "chunked") {
		t.Errorf("%q, %v", text, err)
	}
}
