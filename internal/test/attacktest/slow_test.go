package attacktest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// slow are attacks by those who take their time. They share one wait for the server's longest patience.
func slow() []attack {
	return []attack{{
		name:     "20 bodies of a byte each 100 ms, 20 that end early, 20 slow headers, 20 chunked without end",
		want:     "cut off",
		requests: 80, cpu: 300 * time.Millisecond, why: "each byte wakes the server", run: dawdle,
	}}
}

func dawdle(ctx context.Context, c *caller) (string, error) {
	const head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	kinds := []struct{ first, then string }{
		{head + "Content-Length: 100000\r\n\r\n{", " "},
		{head + "Content-Length: 100000\r\n\r\n" + harmless, ""},
		{head, "X"},
		{head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "1\r\n \r\n"},
	}
	return flood(80, 80, func(i int) (string, error) {
		conn, err := c.dial(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = conn.Close() }()
		kind := kinds[i%len(kinds)]
		go drip(conn, kind.first, kind.then)
		got, err := heard(bufio.NewReader(conn))
		if errors.Is(err, syscall.ECONNRESET) || got == "cut" || strings.HasPrefix(got, "400") {
			return "cut off", nil // told why or not: what was not read may end the connection first
		}
		return got, err
	})
}

// drip writes the first text, and then the other one again and again until nobody takes it.
func drip(conn net.Conn, first, then string) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for text := first; ; text = then {
		if _, err := io.Copy(conn, strings.NewReader(text)); err != nil || then == "" {
			return
		}
		<-tick.C
	}
}
