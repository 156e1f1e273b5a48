package httpx

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// surplus is how many connections over the limit an address may have at once, so that each can be told
// why it is not served. More are closed without a word.
const surplus = 20

// Connections bounds the connections of each address on which no good token has come. One more takes the place of the
// one that has been silent for longest. It is one too many only if all of them have a request that is being answered.
// Those of trusted proxies are not counted. It remembers nothing of an address that has no such connection.
type Connections struct {
	most    int
	trusted []netip.Prefix

	mu sync.Mutex
	of map[netip.Prefix]*strangers
}

// strangers are the connections of one address without a good token: how many there are of each kind, and those that
// are silent, longest first.
type strangers struct {
	count  [over + 1]int
	silent []*conn
}

// NewConnections returns a limit of most connections an address.
func NewConnections(most int, trusted []netip.Prefix) *Connections {
	return &Connections{most: most, trusted: trusted, of: map[netip.Prefix]*strangers{}}
}

// Listener returns a listener that accepts the connections of another one within the limit, and some over
// it, whose requests OverLimit tells apart. The http.Server needs ConnContext and ConnState too.
func (c *Connections) Listener(l net.Listener) net.Listener { return listener{l, c} }

type listener struct {
	net.Listener
	connections *Connections
}

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := accepted.(*net.TCPConn)
		if !ok {
			return accepted, nil // it has no address to be counted for
		}
		counted, crowded := l.connections.admit(tcp)
		if crowded != nil {
			_ = crowded.Close() // whoever opened it has no answer to lose
		}
		if counted != nil {
			return counted, nil
		}
	}
}

// What a connection is counted as.
const (
	nowhere int32 = iota
	within
	over
)

// conn is a connection that is counted until it is closed, or a good token has come on it.
type conn struct {
	*net.TCPConn
	connections *Connections
	network     netip.Prefix
	// place is what it is counted as, which changes under the mutex of connections.
	place  atomic.Int32
	unsent unsent
}

// admit counts a connection, which is silent at first, or returns nil if there is no place for it. It also returns the
// connection to close, of those before or itself, nil if there was room.
func (c *Connections) admit(tcp *net.TCPConn) (admitted *conn, crowded net.Conn) {
	peer := parsePeer(tcp.RemoteAddr().String())
	admitted = &conn{TCPConn: tcp, connections: c, network: network(peer)}
	if contains(c.trusted, peer) {
		return admitted, nil
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of[admitted.network]
	if s == nil {
		s = &strangers{}
	}

	place, oldest := s.room(c.most)
	if place == nowhere {
		return nil, tcp
	}
	if oldest != nil {
		c.remove(oldest)
		crowded = oldest
	}

	c.of[admitted.network] = s // which may have gone with its last one
	s.count[place]++
	s.silent = append(s.silent, admitted)
	admitted.place.Store(place)
	return admitted, crowded
}

// room returns what one more connection is to be counted as, nowhere if there is no place. It also returns the one
// whose place it takes, nil if a place is free.
func (s *strangers) room(most int) (place int32, oldest *conn) {
	switch inside, outside := s.oldest(within), s.oldest(over); {
	case s.count[within] < most:
		return within, nil
	case inside != nil:
		return within, inside
	case s.count[over] < surplus:
		return over, nil
	case outside != nil:
		return over, outside
	default:
		return nowhere, nil
	}
}

// oldest returns the one of a kind that has been silent for longest, nil if none is.
func (s *strangers) oldest(place int32) *conn {
	at := slices.IndexFunc(s.silent, func(c *conn) bool { return c.place.Load() == place })
	if at < 0 {
		return nil
	}
	return s.silent[at]
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.connections.release(c)
	return c.TCPConn.Close()
}

// release takes a connection out of the count.
func (c *Connections) release(released *conn) {
	if released.place.Load() == nowhere {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(released)
}

// remove is release under the mutex.
func (c *Connections) remove(removed *conn) {
	place := removed.place.Swap(nowhere)
	if place == nowhere {
		return
	}
	s := c.of[removed.network]
	s.count[place]--
	s.setSilent(removed, false)
	if s.count == ([over + 1]int{}) {
		delete(c.of, removed.network)
	}
}

// setSilent has a connection be the last of those that are silent, or none of them.
func (s *strangers) setSilent(c *conn, is bool) {
	if at := slices.Index(s.silent, c); at >= 0 {
		s.silent = slices.Delete(s.silent, at, at+1)
	}
	if is {
		s.silent = append(s.silent, c)
	}
}

type connKey struct{}

// ConnContext is an http.Server's, and lets its requests be told apart by their connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, belowTLS(c))
}

// belowTLS returns the connection that a connection of TLS encrypts, and any other as it is.
func belowTLS(c net.Conn) net.Conn {
	if secure, ok := c.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return c
}

// ConnState is an http.Server's. A connection is silent until all of a request's header has come, and again once the
// request was answered. One that was taken over, for a stream or a socket, is silent no more.
func ConnState(accepted net.Conn, state http.ConnState) {
	c, ok := belowTLS(accepted).(*conn)
	if !ok || c.place.Load() == nowhere || state == http.StateNew {
		return
	}
	c.connections.mu.Lock()
	defer c.connections.mu.Unlock()
	if c.place.Load() != nowhere {
		c.connections.of[c.network].setSilent(c, state == http.StateIdle)
	}
}

// OverLimit reports whether the request's connection is one more than its address may have without a good
// token, and how many those are.
func OverLimit(ctx context.Context) (most int, is bool) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok {
		return 0, false
	}
	return c.connections.most, c.place.Load() == over
}

// TokenIsGood says that a good token has come on the request's connection, which is not counted any more.
func TokenIsGood(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.connections.release(c)
	}
}
