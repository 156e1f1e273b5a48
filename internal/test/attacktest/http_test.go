package attacktest_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/edge/auth"
)

// call is an attack by one request.
func call(name, want string, q request, text string) attack {
	return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) {
		r := q
		r.body = strings.NewReader(text)
		return c.send(ctx, r)
	}}
}

const harmless = `{"query":"{ __typename }"}`

// requests are attacks by what HTTP has around a document.
func requests() []attack {
	get := func(name, want, query string) attack {
		return call(name, want, request{method: http.MethodGet, path: "/graphql?" + query}, "")
	}
	header := func(name, want, key, value string) attack {
		return call(name, want, request{header: map[string]string{key: value}}, harmless)
	}
	return concat([]attack{
		get("a URL with malformed escapes", "400 Request:MALFORMED", "query=%7B%zz%7D"),
		get("a URL of 64 KiB", "431", "query="+strings.Repeat("x", 64<<10)),
		get("a URL of 10,000 parameters", "400 Request:MALFORMED", strings.Repeat("a=&", 5000)),
		get("a URL with nested variables", "400 Request:MALFORMED", "query=%7B__typename%7D&variables="+strings.Repeat("%5B", 4000)),
		get("a mutation in a URL", "405 Request:METHOD_NOT_ALLOWED", "query="+url.QueryEscape(`mutation { cancelDeployment(input: {id: "dep_1"}) { deployment { id } } }`)),
		call("PUT", "405 Request:METHOD_NOT_ALLOWED", request{method: http.MethodPut}, harmless),
		call("a method of 10,000 letters", "405 Request:METHOD_NOT_ALLOWED", request{method: strings.Repeat("M", 10_000)}, harmless),
		header("text/plain", "415 Request:UNSUPPORTED_MEDIA_TYPE", "Content-Type", "text/plain"),
		header("a form", "415 Request:UNSUPPORTED_MEDIA_TYPE", "Content-Type", "multipart/form-data; boundary=x"),
		header("a content type of 10,000 parameters", "415 Request:UNSUPPORTED_MEDIA_TYPE", "Content-Type", "application/json"+each(1200, "; p%d=1")+"; charset=latin1"),
		header("an Accept of 4,000 ranges", "200", "Accept", strings.Repeat("a/b,", 3000)+"application/json"),
		header("another origin's page", "403 Request:CROSS_ORIGIN", "Sec-Fetch-Site", "cross-site"),
		header("headers of 17 KiB and more", "431", "X-Flood", strings.Repeat("x", 40<<10)),
		header("a request id of 10 KB", "200", "X-Request-Id", strings.Repeat("x", 10_000)),
		{name: "compressed zeros", want: "415 Request:UNSUPPORTED_MEDIA_TYPE", run: bomb},
		{name: "bad tokens", want: "401 Request:UNAUTHENTICATED", requests: 1000, run: guess},
		{name: "bad tokens of no form", want: "401 Request:UNAUTHENTICATED", requests: 1000, run: stammer},
		{name: "pipelined requests", want: "200", requests: 1000, run: pipeline},
		{name: "readers that take nothing of the whole schema", want: "200", requests: 5, cpu: 5 * mostCPU, why: "each is a request of its own", run: ignore},
	}, framing())
}

// framing are attacks on the reading of a request, byte by byte.
func framing() []attack {
	const head = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	say := func(name, want, text string) attack {
		return attack{name: name, want: want, run: func(ctx context.Context, c *caller) (string, error) { return c.say(ctx, text) }}
	}
	return []attack{
		say("two Content-Lengths", "400", head+"Content-Length: 5\r\nContent-Length: 7\r\n\r\n{}"),
		say("a Content-Length of 2^70", "400", head+"Content-Length: 1180591620717411303424\r\n\r\n{}"),
		say("a Content-Length of 2^60", "413 Request:TOO_LARGE body", head+"Content-Length: 1152921504606846976\r\n\r\n"+strings.Repeat(" ", 300<<10)),
		say("chunks of a size that is none", "400 Request:MALFORMED", head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
		say("a chunk of 2^63", "413 Request:TOO_LARGE body", head+"Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n"+strings.Repeat(" ", 700<<10)),
		say("700,000 chunks of a byte", "413 Request:TOO_LARGE body", head+"Transfer-Encoding: chunked\r\n\r\n"+strings.Repeat("1\r\n \r\n", 700_000)),
		say("a chunk with a long extension", "400 Request:MALFORMED", head+"Transfer-Encoding: chunked\r\n\r\n1;"+strings.Repeat("x", 100_000)),
		say("10,000 headers", "431", head+strings.Repeat("A: b\r\n", 10_000)+"\r\n"),
		say("bytes that are no HTTP", "400", strings.Repeat("\x16\x03\x01", 5000)+"\r\n\r\n"),
		say("a body that a header smuggles", "400", head+"Content-Length : 5\r\n\r\n{}"),
	}
}

// dial opens a connection, which ends with the context.
func (c *caller) dial(ctx context.Context) (net.Conn, error) {
	conn, err := c.dialer.DialContext(ctx, "tcp", c.host())
	if err != nil {
		return nil, err
	}
	return conn, conn.SetDeadline(time.Now().Add(patience))
}

// say writes bytes and returns the verdict of what is answered, before or after the last of them.
func (c *caller) say(ctx context.Context, text string) (string, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.WriteString(conn, text) }() // the server may not want it all
	return heard(bufio.NewReader(conn))
}

// heard is the verdict of the next answer on a connection, "cut" if that ends without one.
func heard(in *bufio.Reader) (string, error) {
	answer, err := http.ReadResponse(in, nil)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "cut", nil
	}
	if err != nil {
		return "", err
	}
	return verdictOf(answer)
}

func bomb(ctx context.Context, c *caller) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(make([]byte, 100<<20)); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return c.send(ctx, request{header: map[string]string{"Content-Encoding": "gzip"}, body: &packed})
}

// guess tries tokens that have their form, but are nobody's.
func guess(ctx context.Context, c *caller) (string, error) {
	stranger := c.from(net.IPv4(127, 0, 0, byte(2+c.round)))
	defer stranger.client.CloseIdleConnections()
	return flood(1000, 1, func(int) (string, error) {
		token, err := auth.Generate(actor.Admin, rand.Reader)
		if err != nil {
			return "", err
		}
		return stranger.send(ctx, request{header: map[string]string{"Authorization": "Bearer " + token.Reveal()}, body: strings.NewReader(harmless)})
	})
}

// stammer tries what is no token.
func stammer(ctx context.Context, c *caller) (string, error) {
	stranger := c.from(net.IPv4(127, 0, 1, byte(2+c.round)))
	defer stranger.client.CloseIdleConnections()
	return flood(1000, 1, func(i int) (string, error) {
		return stranger.send(ctx, request{header: map[string]string{"Authorization": fmt.Sprint("Bearer ", strings.Repeat("x", 2*i))}, body: strings.NewReader(harmless)})
	})
}

// from is the caller at another address of this machine, so that what that does wrong is its own.
func (c *caller) from(address net.IP) *caller {
	other := *c
	other.dialer = &net.Dialer{LocalAddr: &net.TCPAddr{IP: address}}
	other.client = &http.Client{Transport: &http.Transport{DialContext: other.dialer.DialContext}, Timeout: patience}
	return &other
}

// pipeline sends requests without waiting for answers.
func pipeline(ctx context.Context, c *caller) (string, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	one := fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(harmless), harmless)
	go func() { _, _ = io.WriteString(conn, strings.Repeat(one, 1000)) }()
	in := bufio.NewReader(conn)
	return flood(1000, 1, func(int) (string, error) { return heard(in) })
}

// ignore asks for the whole schema, reads nothing of it and goes.
func ignore(ctx context.Context, c *caller) (string, error) {
	body := fmt.Sprintf(`{"query":%q}`, "{ __schema { types { "+wide+" } } }"+ref)
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	for range 5 {
		conn, err := c.dial(ctx)
		if err != nil {
			return "", err
		}
		open = append(open, conn)
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(conn, "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return "", err
		}
	}
	return c.send(ctx, request{body: strings.NewReader(harmless)})
}
