package stream

import (
	"bufio"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
	"slipway/internal/edge/requestlog"
)

// subprotocol is the one that sockets speak: GraphQL over WebSocket.
const subprotocol = "graphql-transport-ws"

// WebSocket is the transport of every kind of operation over sockets. It goes before HTTP.
type WebSocket struct {
	// Streams must be set for sockets to be served.
	Streams *Streams
	// MaxQuery is the longest text of a document, in bytes; 0 stands for wire.DefaultMaxQuery.
	MaxQuery int
}

// Supports reports whether the request asks for a socket, and sockets are served.
func (t WebSocket) Supports(r *http.Request) bool { return t.Streams != nil && IsUpgrade(r) }

// IsUpgrade reports whether the request asks for a socket. Its caller may only be known later: a browser
// cannot set the header, and sends the token in its first message.
func IsUpgrade(r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	for offer := range strings.SplitSeq(strings.Join(r.Header.Values("Upgrade"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(offer), "websocket") {
			return true
		}
	}
	return false
}

// Do serves the socket, which outlives the handler.
func (t WebSocket) Do(w http.ResponseWriter, r *http.Request, exec Executor) {
	if err := t.Streams.begin(); err != nil {
		wire.Refuse(w, r, err)
		return
	}

	isServed := false
	defer func() {
		if !isServed {
			t.Streams.serving.Done()
		}
	}()

	if err := t.Streams.checkRoom(); err != nil { // its place it takes when it is acknowledged
		wire.Refuse(w, r, err)
		return
	}

	taken := &hijacker{ResponseWriter: w}
	conn, err := websocket.Accept(taken, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: t.Streams.OriginChecked,
	})
	if err != nil {
		return // it has been answered
	}
	conn.SetReadLimit(t.Streams.Message)

	isServed = true
	release := requestlog.From(r.Context()).Hold(http.StatusSwitchingProtocols)
	request, cancel := httpx.Outliving(r)
	go func() {
		defer t.Streams.serving.Done()
		defer release(0)
		defer cancel()
		newSocket(t, request, exec, conn, taken.conn).serve()
	}()
}

// hijacker keeps the connection that a handshake takes over, so that it can be cut off.
type hijacker struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (conn net.Conn, buffers *bufio.ReadWriter, err error) {
	h.conn, buffers, err = http.NewResponseController(h.ResponseWriter).Hijack()
	return h.conn, buffers, err
}
