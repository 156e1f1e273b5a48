package stream

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"slipway/internal/base/fault"
	"slipway/internal/edge/gqlhttp/wire"
	"slipway/internal/edge/httpx"
)

// closeTimeout is how long the peer of a socket that is being closed may take to answer the close frame.
const closeTimeout = 2 * time.Second

// socket is one connection. It is read on a goroutine; each operation has another, and one watches over the socket.
type socket struct {
	*Streams
	maxQuery int
	exec     Executor
	conn     *websocket.Conn
	tcp      net.Conn

	// address is where the handshake came from.
	address string
	// request is that of the handshake; once acknowledged is closed it has the headers that
	// connection_init stands in for, and its context is the caller's.
	request                   *http.Request
	initialised, acknowledged chan struct{}
	// leave gives back the place that an acknowledged socket has among the open streams.
	leave func()
	// ctx ends when the socket is being closed.
	ctx    context.Context
	cancel context.CancelFunc

	writing   sync.Mutex
	closeOnce sync.Once

	mu         sync.Mutex
	finishing  bool // no more operations
	operations map[string]*operation
	running    sync.WaitGroup
}

func newSocket(t WebSocket, r *http.Request, exec Executor, conn *websocket.Conn, tcp net.Conn) *socket {
	s := &socket{
		Streams: t.Streams, maxQuery: t.MaxQuery, exec: exec, conn: conn, tcp: tcp, address: httpx.Caller(r.Context()).Key,
		initialised: make(chan struct{}), acknowledged: make(chan struct{}),
		leave: func() {}, operations: map[string]*operation{},
	}
	s.ctx, s.cancel = context.WithCancel(r.Context())
	s.request = r.WithContext(s.ctx)
	return s
}

// serve returns when the socket is closed and nothing of it runs.
func (s *socket) serve() {
	var watchers sync.WaitGroup
	reason := internalError // of a panic
	s.awaitInit()

	defer func() {
		if value := recover(); value != nil {
			_ = s.exec.PresentRecoveredError(s.ctx, value) // which logs it
		}
		s.end(reason)
		s.finish()
		watchers.Wait()
		s.handshakes.remove(s)
		s.leave()
	}()

	if s.conn.Subprotocol() == "" {
		reason = noSubprotocol
		return
	}

	watchers.Go(func() { s.watch(&watchers) })
	reason = s.read()
}

// read handles the messages until one, or the lack of any, ends the socket, and returns the reason to close it with.
func (s *socket) read() closeReason {
	for {
		kind, text, err := s.conn.Read(context.Background()) // which end stops
		switch {
		case err != nil:
			return readFailed(err)
		case s.ctx.Err() != nil:
			continue // what comes before the peer's close frame is not looked at
		case kind != websocket.MessageText:
			return *invalidMessage("A message must be text.")
		case !utf8.Valid(text):
			return notUTF8
		}

		m, reason := parseMessage(text)
		if reason == nil {
			reason = s.handle(m)
		}
		if reason != nil {
			return *reason
		}
	}
}

func (s *socket) handle(m message) *closeReason {
	switch m.kind {
	case "connection_init":
		return s.initialise(m)
	case "ping":
		s.write(pong(m))
	case "subscribe":
		return s.start(m)
	case "complete":
		s.stop(m.id)
	}
	return nil
}

// initialise authenticates the caller of the socket by connection_init.
func (s *socket) initialise(m message) *closeReason {
	if isClosed(s.initialised) {
		return &tooManyInits
	}
	close(s.initialised)

	headers, invalid := m.headers()
	if invalid != nil {
		return invalid
	}
	if refusal, ok := errors.AsType[*fault.Error](wire.CheckCostHeader(headers)); ok {
		return invalidMessage("%s", refusal.Message)
	}

	s.request = s.request.Clone(s.ctx)
	maps.Copy(s.request.Header, headers)
	if len(s.request.Header.Values("Authorization")) == 0 {
		return &noToken
	}

	caller, err := s.Authenticate(s.request)
	switch {
	case err == nil:
		return s.acknowledge(caller)
	case isRefusal(err):
		refused := refusedCaller(err)
		return &refused
	default:
		return &tryAgain
	}
}

// acknowledge takes the socket's place among its caller's streams.
func (s *socket) acknowledge(caller context.Context) *closeReason {
	leave, err := s.enter(caller)
	if err != nil {
		refused := limitReached(err)
		return &refused
	}
	s.handshakes.remove(s)
	s.leave = leave
	s.request = s.request.WithContext(caller)
	close(s.acknowledged)
	s.write(encodeMessage("connection_ack", "", nil))
	return nil
}

func isClosed(signal <-chan struct{}) bool {
	select {
	case <-signal:
		return true
	default:
		return false
	}
}

// watch ends the socket for what does not come by a message: time, the server's shutdown, a token's end. Pings wait for
// their answer on goroutines of their own.
func (s *socket) watch(pings *sync.WaitGroup) {
	late := time.NewTimer(s.InitTimeout)
	defer late.Stop()
	recheck := time.NewTicker(s.Recheck)
	defer recheck.Stop()
	heartbeat := time.NewTicker(s.Heartbeat)
	defer heartbeat.Stop()

	initialised, acknowledged := s.initialised, s.acknowledged
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-late.C:
			s.end(initTimeout)
			return
		case <-s.draining.Done():
			s.finish()
			s.end(goingAway)
			return
		case <-initialised:
			late.Stop()
			initialised = nil
		case <-acknowledged:
			acknowledged = nil
		case <-heartbeat.C:
			pings.Go(s.ping)
		case <-recheck.C:
			if acknowledged == nil && s.checkCaller(s.request) != nil {
				s.end(forbidden)
				return
			}
		}
	}
}

// ping cuts the socket off when its peer does not answer a ping.
func (s *socket) ping() {
	// Not under s.ctx, with whose end the library would cut off a socket that is being closed.
	ctx, cancel := context.WithTimeout(context.Background(), s.Heartbeat)
	defer cancel()
	if s.conn.Ping(ctx) != nil {
		_ = s.tcp.Close()
	}
}

// write sends a message. A peer that does not take it in time is cut off, which the reader notices.
func (s *socket) write(text []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.WriteTimeout)
	defer cancel()
	if s.conn.Write(ctx, websocket.MessageText, text) != nil {
		_ = s.tcp.Close()
	}
}

// end stops what runs and closes the socket. The first reason counts; later calls wait for the first.
func (s *socket) end(c closeReason) {
	s.closeOnce.Do(func() {
		s.cancel()
		cut := time.AfterFunc(min(closeTimeout, s.WriteTimeout), func() { _ = s.tcp.Close() })
		defer cut.Stop()
		_ = s.conn.Close(c.code, c.text) // a peer that is gone needs no close frame
	})
}
