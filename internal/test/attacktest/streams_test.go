package attacktest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// streams are attacks by event streams.
func streams() []attack {
	return []attack{
		{name: "event streams that are left at once", want: "200", requests: 200, run: vanish},
		{name: "an event stream of a bad document", want: "200 Document:LIMIT_EXCEEDED selections", run: func(ctx context.Context, c *caller) (string, error) {
			conn, err := c.stream(ctx, chain(30, "...f%[2]d ...f%[2]d"))
			if err != nil {
				return "", err
			}
			defer func() { _ = conn.Close() }()
			return firstEvent(conn)
		}},
		{name: "a reader that takes nothing of 800 deployments as a stream", want: "cut", cpu: recordsCPU, why: ofRecords, run: starve},
	}
}

// stream asks for an operation as an event stream and reads nothing of it.
func (c *caller) stream(ctx context.Context, query string) (net.Conn, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	body := fmt.Sprintf(`{"query":%q}`, query)
	_, err = fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.token, len(body), body)
	return conn, err
}

// follow opens a stream of a deployment's changes, which stays open.
func (s *server) follow(t *testing.T) {
	t.Helper()
	c, leave := newCaller(s, 0)
	t.Cleanup(leave)
	conn, err := c.stream(t.Context(), c.watching())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Fatal(err)
	}
}

// vanish opens streams of a deployment's changes and leaves each when it has begun.
func vanish(ctx context.Context, c *caller) (string, error) {
	return flood(200, 10, func(int) (string, error) {
		conn, err := c.stream(ctx, c.watching())
		if err != nil {
			return "", err
		}
		got, err := firstEvent(conn)
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
		return got, err
	})
}

// firstEvent is the verdict of a stream's first answer.
func firstEvent(conn net.Conn) (string, error) {
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, mostRead)
	for lines.Scan() {
		if data, found := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); found {
			return verdict(answer.StatusCode, data), nil
		}
	}
	return "no event", lines.Err()
}

// starve asks for everything as a stream, and reads nothing of it.
func starve(ctx context.Context, c *caller) (string, error) {
	conn, err := c.stream(ctx, everything)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return "", err
	}
	return cut(conn, " "), nil
}

// cut waits, without reading, until the server has given the connection up: the probe is answered by a
// reset then.
func cut(conn net.Conn, probe string) string {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); time.Since(begun) < patience/2; <-tick.C {
		if _, err := io.WriteString(conn, probe); err != nil {
			return "cut"
		}
	}
	return "held"
}
