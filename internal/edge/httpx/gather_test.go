package httpx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"slipway/internal/edge/httpx"
)

// serving serves a handler whose answers are gathered, on connections that are counted as those of the program are.
func serving(t *testing.T, h http.HandlerFunc) *connection {
	t.Helper()
	return servingBy(t, &http.Server{ReadHeaderTimeout: patience}, h)
}

func servingBy(t *testing.T, s *http.Server, h http.HandlerFunc) *connection {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Handler, s.ConnContext = h, httpx.ConnContext
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(httpx.NewConnections(10, nil).Listener(l)) }()
	t.Cleanup(func() { _ = s.Close(); <-ended })
	return (&limited{address: l.Addr().String()}).connect(t, here)
}

// body returns the bytes of an answer of a size.
func body(size int) []byte {
	text := make([]byte, size)
	for i := range text {
		text[i] = 'a' + byte(i/7%26)
	}
	return text
}

func TestWhatIsGatheredArrivesWhole(t *testing.T) {
	t.Parallel()
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		var size, piece int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d/%d", &size, &piece)
		if r.URL.Query().Has("length") {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
		httpx.Gather(r.Context())
		for text := body(size); len(text) > 0; text = text[min(piece, len(text)):] {
			_, _ = w.Write(text[:min(piece, len(text))])
		}
	})
	for _, size := range []int{0, 1, 2_000, 4_096, 5_000, httpx.Piece - 300, httpx.Piece, httpx.Piece + 1, 3 * httpx.Piece, 1 << 20} {
		for _, piece := range []int{100, 5_000, httpx.Piece, 1 << 20} {
			for _, query := range []string{"", "?length"} {
				path := fmt.Sprintf("/%d/%d%s", size, piece, query)
				if got := c.ask(path); got != string(body(size)) {
					t.Errorf("%s: %d bytes arrived, or others than were sent", path, len(got))
				}
			}
		}
	}
}

func TestTheLastAnswerOfAConnectionIsSent(t *testing.T) {
	t.Parallel()
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		httpx.Gather(r.Context())
		_, _ = w.Write(body(6_000))
	})
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(answer.Body); err != nil || !bytes.Equal(got, body(6_000)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := c.answers.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection ends with %v, want EOF", err)
	}
}

// accepted returns both ends of a connection: the server's, with the context of its requests, and a client's.
func accepted(t *testing.T) (context.Context, net.Conn, *connection) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client := (&limited{address: l.Addr().String()}).connect(t, here)
	server, err := httpx.NewConnections(10, nil).Listener(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Close(), l.Close() })
	return httpx.ConnContext(t.Context(), server), server, client
}

func TestWhatIsGatheredLeavesTogether(t *testing.T) {
	t.Parallel()
	for what, leaves := range map[string]func(context.Context, net.Conn) error{
		"sent":       func(ctx context.Context, _ net.Conn) error { return httpx.Send(ctx) },
		"a deadline": func(_ context.Context, c net.Conn) error { return c.SetWriteDeadline(time.Time{}) },
		"a read": func(_ context.Context, c net.Conn) error {
			_ = c.SetReadDeadline(time.Unix(1, 0))
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				return err
			}
			return nil
		},
		"a stream": func(_ context.Context, c net.Conn) error {
			_, err := c.(io.ReaderFrom).ReadFrom(strings.NewReader(""))
			return err
		},
		"more than a piece": func(_ context.Context, c net.Conn) error {
			n, err := c.Write(body(httpx.Piece))
			if n != httpx.Piece {
				t.Errorf("%d bytes written, want %d", n, httpx.Piece)
			}
			return err
		},
	} {
		ctx, server, client := accepted(t)
		httpx.Gather(ctx)
		for range 2 {
			if n, err := server.Write(body(3_000)); n != 3_000 || err != nil {
				t.Fatalf("%d bytes written, %v", n, err)
			}
		}
		_ = client.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, err := client.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %d bytes left at once, %v", what, n, err)
		}
		if err := leaves(ctx, server); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		_ = client.SetReadDeadline(time.Now().Add(patience))
		got := make([]byte, 6_000)
		if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, append(body(3_000), body(3_000)...)) {
			t.Errorf("%s: what arrives is not what was written, %v", what, err)
		}
	}
}

// Who has taken a connection over ends a write that stalls by a deadline.
func TestADeadlineEndsAWriteThatIsNotGathered(t *testing.T) {
	t.Parallel()
	_, server, client := accepted(t)
	ended := make(chan error, 1)
	go func() {
		_, err := server.Write(make([]byte, 64<<20))
		ended <- err
	}()
	if _, err := client.Read(make([]byte, 1)); err != nil { // the write has begun, and nobody reads more
		t.Fatal(err)
	}
	go func() { _ = server.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)) }()
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the write ends with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the write goes on")
	}
}

// A client may wait to be told to go on before it sends a body. On a connection that has been used, too, that is sent at
// once.
func TestNothingIsGatheredBetweenAnswers(t *testing.T) {
	t.Parallel()
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		httpx.Gather(r.Context())
		_, _ = fmt.Fprint(w, string(text), err)
	})
	for range 3 {
		_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
		line, err := c.answers.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Fatalf("told %q, %v", line, err)
		}
		_, _ = c.answers.ReadString('\n')
		_, _ = io.WriteString(c, "hello")
		answer, err := http.ReadResponse(c.answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(answer.Body); string(got) != "hello<nil>" {
			t.Errorf("answered %q", got)
		}
	}
}

// What was gathered has the deadline that was set before the server was done with the request.
func TestAReaderWhoStallsIsCutOffFromWhatWasGathered(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	s := &http.Server{WriteTimeout: 200 * time.Millisecond, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			close(closed)
		}
	}}
	c := servingBy(t, s, func(w http.ResponseWriter, r *http.Request) {
		httpx.Gather(r.Context())
		_, _ = w.Write(body(15_000))
	})
	const requests = 3_000 // whose answers are more than the system keeps for a reader
	_, _ = io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", requests))
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the server still waits for the reader")
	}
}

// A server that has refused a body reads some of the rest of it, which may never come.
func TestAnAnswerDoesNotWaitForTheRestOfABody(t *testing.T) {
	t.Parallel()
	c := serving(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 5))
		httpx.Gather(r.Context())
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
	})
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nbodies\r\n")
	answer, err := http.ReadResponse(c.answers, nil)
	if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatal(answer, err)
	}
}
