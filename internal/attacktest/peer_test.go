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
)

// peer is the other end of a socket, byte by byte, so that it can do what a library's would not.
type peer struct {
	conn net.Conn
	in   *bufio.Reader
}

const (
	opMore   = 0
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPing   = 9
	final    = 0x80
)

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

func (p *peer) say(text string) { p.raw(frame(opText|final, text)) }

// frame is one frame of a client's; op has the bits of the first byte.
func frame(op byte, payload string) string {
	b := []byte{op, 0x80 | 126, byte(len(payload) >> 8), byte(len(payload))}
	switch {
	case len(payload) < 126:
		b = []byte{op, 0x80 | byte(len(payload))}
	case len(payload) > 0xffff:
		b = binary.BigEndian.AppendUint64([]byte{op, 0x80 | 127}, uint64(len(payload)))
	}
	return string(b) + "\x00\x00\x00\x00" + payload // a mask of zeros
}

// hear is the verdict of the next message or the end: its type, with the code of an error's first; the
// code that the socket is closed with; or cut.
func (p *peer) hear() string {
	op, payload, err := p.read()
	switch {
	case err != nil:
		return "cut"
	case op == opClose && len(payload) >= 2:
		return fmt.Sprintf("close %d", binary.BigEndian.Uint16(payload))
	case op != opText:
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
	var head [2]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	if wide := map[uint64]int{126: 2, 127: 8}[size]; wide > 0 {
		var b [8]byte
		if _, err := io.ReadFull(p.in, b[8-wide:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(b[:])
	}
	payload, err = io.ReadAll(io.LimitReader(p.in, int64(min(size, mostRead))))
	if err == nil && uint64(len(payload)) < size {
		err = io.ErrUnexpectedEOF // more than is looked at, or the end
	}
	return head[0] & 15, payload, err
}

// subscribe is the message that runs an operation.
func subscribe(id, query string) string {
	return fmt.Sprintf(`{"id":%q,"type":"subscribe","payload":{"query":%q}}`, id, query)
}
