package attacktest_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"slipway/internal/test/testkit"
)

// peer is the other end of a socket, byte by byte, so that it can do what a library's would not.
type peer struct {
	conn net.Conn
	in   *bufio.Reader
}

// socket opens a socket without saying who it is.
func (c *caller) socket(ctx context.Context) (*peer, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	p := &peer{conn, bufio.NewReader(conn)}
	p.raw("GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
	answer, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return nil, fmt.Errorf("no socket: %w", err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("no socket: %s", answer.Status)
	}
	return p, nil
}

// welcome opens a socket that is acknowledged as the admin's.
func (c *caller) welcome(ctx context.Context) (*peer, error) {
	p, err := c.socket(ctx)
	if err != nil {
		return nil, err
	}
	p.say(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + c.token + `"}}`)
	if got := p.hear(); got != "connection_ack" {
		return nil, fmt.Errorf("no welcome: %s", got)
	}
	return p, nil
}

func (p *peer) raw(text string) { _, _ = io.WriteString(p.conn, text) } // what it answers, or not, tells enough

func (p *peer) say(text string) { p.raw(frame(testkit.OpText|testkit.Final, text)) }

func frame(first byte, payload string) string { return string(testkit.Frame(first, payload)) }

// hear is the verdict of the next message or the end: its type, with the code of an error's first; the
// code that the socket is closed with; or cut.
func (p *peer) hear() string {
	op, payload, err := p.read()
	switch {
	case err != nil:
		return "cut"
	case op == testkit.OpClose && len(payload) >= 2:
		return fmt.Sprintf("close %d", binary.BigEndian.Uint16(payload))
	case op != testkit.OpText:
		return fmt.Sprintf("frame %d", op)
	}
	var m struct {
		Type    string
		Payload json.RawMessage
	}
	if err := json.Unmarshal(payload, &m); err != nil {
		return err.Error()
	}
	refused := m.Payload
	if m.Type == "error" {
		refused = fmt.Appendf(nil, `{"errors":%s}`, m.Payload)
	}
	return m.Type + strings.TrimPrefix(verdict(0, refused), "0")
}

// end is what the socket ends with, whatever comes before.
func (p *peer) end() string {
	for {
		got := p.hear()
		if got == "cut" || strings.HasPrefix(got, "close ") {
			_ = p.conn.Close()
			return got
		}
	}
}

func (p *peer) read() (op byte, payload []byte, err error) {
	return testkit.ReadFrame(p.in, mostRead)
}

// subscribe is the message that runs an operation.
func subscribe(id, query string) string {
	return fmt.Sprintf(`{"id":%q,"type":"subscribe","payload":{"query":%q}}`, id, query)
}
