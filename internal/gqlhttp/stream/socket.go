package stream

import (
	"context"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"slipway/internal/httpx"
)

// parting is how long the peer of a socket that is being closed may take to say goodbye.
const parting = 2 * time.Second

// socket is one connection. It is read on the handler's goroutine; each operation has another, and two
// watch over the socket.
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

	writing sync.Mutex
	closing sync.Once

	mu         sync.Mutex
	finishing  bool // no more operations
	operations map[string]*operation
	running    sync.WaitGroup
}

func newSocket(t WebSocket, r *http.Request, exec Executor, conn *websocket.Conn, tcp net.Conn) *socket {
	s := &socket{
		Streams: t.Streams, maxQuery: t.MaxQuery, exec: exec, conn: conn, tcp: tcp, address: httpx.Caller(r.Context()).Key,
		initialised: make(chan struct{}), acknowledged: make(chan struct{}), leave: func() {}, operations: map[string]*operation{},
	}
	s.ctx, s.cancel = context.WithCancel(r.Context())
	s.request = r.WithContext(s.ctx)
	return s
}

// serve comes back when the socket is closed and nothing of it runs.
func (s *socket) serve() {
	var watchers sync.WaitGroup
	verdict := internalError // of a panic
	s.awaitInit()
	defer func() {
		s.end(verdict)
		s.finish()
		watchers.Wait()
		s.handshakes.remove(s)
		s.leave()
	}()
	if s.conn.Subprotocol() == "" {
		verdict = noSubprotocol
		return
	}
	watchers.Go(s.watch)
	watchers.Go(s.beat)
	verdict = s.read()
}

// read takes the messages until one, or the lack of any, ends the socket.
func (s *socket) read() closing {
	for {
		kind, text, err := s.conn.Read(context.Background()) // which end stops
		switch {
		case err != nil:
			return ended(err)
		case s.ctx.Err() != nil:
			continue // what comes before the peer's goodbye is not looked at
		case kind != websocket.MessageText:
			return *invalid("A message must be text.")
		case !utf8.Valid(text):
			return notUTF8
		}
		m, wrong := parseMessage(text)
		if wrong == nil {
			wrong = s.handle(m)
		}
		if wrong != nil {
			return *wrong
		}
	}
}

func (s *socket) handle(m message) *closing {
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

// initialise finds out whose socket it is.
func (s *socket) initialise(m message) *closing {
	if isClosed(s.initialised) {
		return &initialisedYet
	}
	close(s.initialised)
	given, wrong := m.headers()
	if wrong != nil {
		return wrong
	}
	s.request = s.request.Clone(s.ctx)
	maps.Copy(s.request.Header, given)
	if len(s.request.Header.Values("Authorization")) == 0 {
		return &noToken
	}
	caller, err := s.Authenticate(s.request)
	switch {
	case err == nil:
		return s.acknowledge(caller)
	case refuses(err):
		refused := refusedAs(err)
		return &refused
	default:
		return &tryAgain
	}
}

// acknowledge takes the socket's place among its caller's streams.
func (s *socket) acknowledge(caller context.Context) *closing {
	leave, err := s.enter(caller)
	if err != nil {
		refused := tryAgainAs(err)
		return &refused
	}
	s.handshakes.remove(s)
	s.leave = leave
	s.request = s.request.WithContext(caller)
	close(s.acknowledged)
	s.write(frame("connection_ack", "", nil))
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

// watch ends the socket for what its messages do not tell: time, the server's end, a token's end.
func (s *socket) watch() {
	late := time.NewTimer(s.InitTimeout)
	defer late.Stop()
	recheck := time.NewTicker(s.Recheck)
	defer recheck.Stop()
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
		case <-recheck.C:
			if acknowledged == nil && s.revoked(s.request) != nil {
				s.end(forbidden)
				return
			}
		}
	}
}

// beat cuts the socket off when its peer does not answer a ping.
func (s *socket) beat() {
	tick := time.NewTicker(s.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		// Not under s.ctx, with whose end the library would cut off a socket that is being closed.
		ctx, cancel := context.WithTimeout(context.Background(), s.Heartbeat)
		if s.conn.Ping(ctx) != nil {
			_ = s.tcp.Close()
		}
		cancel()
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

// end stops what runs and closes the socket. The first reason counts; later ones wait for it.
func (s *socket) end(c closing) {
	s.closing.Do(func() {
		s.cancel()
		cut := time.AfterFunc(min(parting, s.WriteTimeout), func() { _ = s.tcp.Close() })
		defer cut.Stop()
		_ = s.conn.Close(c.code, c.reason) // a peer that is gone needs no goodbye
	})
}
