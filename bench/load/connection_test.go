//go:build linux

package load_test

import (
	"net"
	"strings"
	"testing"

	"slipway/bench/load"
)

// An answer is read whole however it comes, and what is none is an error.
func TestAnswersAreReadHoweverTheyCome(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*load.ReadBuffer)
	for text, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello":                                     "hello",
		"HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n":                                    "",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n": "hello",
		"HTTP/1.1 200 OK\r\nContent-Length: 196608\r\n\r\n" + long:                              long,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhello":                       "error",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n":                        "error",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n":                                          "error",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello":                                     "error",
		"HTTP/1.1 OK\r\n\r\n": "error",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell (and then it closes the connection)\n": "error",
	} {
		for _, size := range []int{1 << 20, 1000, 7} {
			if got := read(t, text, size); got != want {
				t.Errorf("%.80q in pieces of %d: got %.80q, want %.80q", text, size, got, want)
			}
		}
	}
	if got := read(t, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", 3); got != "error" {
		t.Errorf("an answer that is cut short is %q", got)
	}
}

// read returns the body of an answer that comes in pieces, or error.
func read(t *testing.T, answer string, size int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := c.Read(make([]byte, 10)); err != nil {
			return
		}
		for len(answer) > 0 {
			piece := answer[:min(size, len(answer))]
			if _, err := c.Write([]byte(piece)); err != nil {
				return
			}
			answer = answer[len(piece):]
		}
	}()
	body, err := load.Exchange(l.Addr().String(), "request")
	if err != nil {
		return "error"
	}
	return string(body)
}
