package attacktest_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"time"
)

// slow are attacks by those who take their time. They share one wait for the server's longest patience.
func slow() []attack {
	return []attack{{
		name:     "20 bodies of a byte each 100 ms, 20 that end early, 20 slow headers, 20 chunked without end",
		want:     "20 x 408, 60 x 400 Request:MALFORMED",
		requests: 80, run: dawdle,
	}}
}

func dawdle(ctx context.Context, c *caller) (string, error) {
	const head = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
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
		return heard(bufio.NewReader(conn))
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
