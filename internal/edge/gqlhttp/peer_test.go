package gqlhttp_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"slipway/internal/test/testkit"
)

// peer is the other end of a socket, byte by byte, so that it can do what a library's would not.
type peer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	// mute peers answer neither pings nor goodbyes.
	mute bool
}

// handshake opens a connection and asks for a socket; the headers are added to the request.
func (l *live) handshake(t *testing.T, headers ...string) (*peer, *http.Response) {
	t.Helper()
	host := strings.TrimPrefix(l.URL, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	request := "GET /graphql HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + strings.Join(headers, "\r\n")
	if len(headers) > 0 {
		request += "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, conn: conn, in: bufio.NewReader(conn)}
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, resp
}

// hello is the first message of a socket with a token.
const hello = `{"type":"connection_init","payload":{"Authorization":"Bearer good"}}`

const transport = "Sec-WebSocket-Protocol: graphql-transport-ws"

// socket opens a socket without saying who it is.
func (l *live) socket(t *testing.T, headers ...string) *peer {
	t.Helper()
	p, resp := l.handshake(t, append(headers, transport)...)
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-WebSocket-Protocol") != "graphql-transport-ws" {
		t.Fatalf("handshake: %v", resp)
	}
	return p
}

// welcome opens a socket that is acknowledged.
func (l *live) welcome(t *testing.T) *peer {
	t.Helper()
	p := l.socket(t)
	p.say(hello)
	p.hear(`{"type":"connection_ack"}`)
	return p
}

func (p *peer) say(text string) { p.t.Helper(); p.frame(testkit.OpText, true, []byte(text)) }

func (p *peer) frame(op byte, final bool, payload []byte) {
	p.t.Helper()
	if final {
		op |= testkit.Final
	}
	if _, err := p.conn.Write(testkit.Frame(op, string(payload))); err != nil {
		p.t.Fatalf("write a frame: %v", err)
	}
}

// read returns the next frame, answering pings on the way unless the peer is mute.
func (p *peer) read() (op byte, payload []byte, err error) {
	const most = 64 << 20
	for {
		op, payload, err := testkit.ReadFrame(p.in, most)
		if err != nil || op != testkit.OpPing || p.mute {
			return op, payload, err
		}
		p.frame(testkit.OpPong, true, payload)
	}
}

// next returns the next message.
func (p *peer) next() string {
	p.t.Helper()
	op, payload, err := p.read()
	if err != nil || op != testkit.OpText {
		p.t.Fatalf("want a message; got a frame of kind %d, %q, %v", op, payload, err)
	}
	return tidy(string(payload))
}

// tidy takes out of an answer what these tests are not about: its cost, and white space.
func tidy(text string) string {
	return strings.ReplaceAll(costs.ReplaceAllString(text, ""), "\n", "")
}

var costs = regexp.MustCompile(`,"extensions":{"cost":{[^}]*}}`)

// hear expects these messages next.
func (p *peer) hear(want ...string) {
	p.t.Helper()
	for _, w := range want {
		if got := p.next(); got != w {
			p.t.Fatalf("heard %s, want %s", got, w)
		}
	}
}

// refused expects an error message for an operation, and gives its first error.
func (p *peer) refused(id string) (e struct {
	Message    string
	Extensions map[string]any
}) {
	p.t.Helper()
	var m struct {
		Type, ID string
		Payload  []json.RawMessage
	}
	text := p.next()
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Type != "error" || m.ID != id || len(m.Payload) == 0 {
		p.t.Fatalf("want an error for %s: %s, %v", id, text, err)
	}
	if err := json.Unmarshal(m.Payload[0], &e); err != nil {
		p.t.Fatal(err)
	}
	return e
}

// closed passes over messages until the socket is closed, answers unless it is mute, and waits for the
// end of the connection.
func (p *peer) closed() (code int, reason string) {
	p.t.Helper()
	for {
		op, payload, err := p.read()
		if err != nil {
			p.t.Fatalf("the connection ended without a goodbye: %v", err)
		}
		if op != testkit.OpClose {
			continue
		}
		if !p.mute {
			p.frame(testkit.OpClose, true, payload)
		}
		if _, _, err := p.read(); err == nil {
			p.t.Error("something came after the goodbye")
		}
		return int(binary.BigEndian.Uint16(payload)), string(payload[2:])
	}
}

// ends expects the socket to be closed so.
func (p *peer) ends(code int, reason string) {
	p.t.Helper()
	if got, why := p.closed(); got != code || !strings.HasPrefix(why, reason) {
		p.t.Errorf("closed with %d %q, want %d %q", got, why, code, reason)
	}
}

// subscribe is the message that runs an operation.
func subscribe(id, query string) string {
	return fmt.Sprintf(`{"id":%q,"type":"subscribe","payload":{"query":%q}}`, id, query)
}

func item(id string, n int) string {
	return fmt.Sprintf(`{"type":"next","id":%q,"payload":{"data":{"feed":{"n":%d}}}}`, id, n)
}

func complete(id string) string { return fmt.Sprintf(`{"type":"complete","id":%q}`, id) }
