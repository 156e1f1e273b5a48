package httpx

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// surplus is how many connections over the limit an address may have at once, so that each can be told
// why it is not served. More are closed without a word.
const surplus = 20

// Connections bounds the connections of each address on which no good token has come. Those of trusted
// proxies are not counted. It remembers nothing of an address that has no such connection.
type Connections struct {
	most    int
	trusted []netip.Prefix

	mu    sync.Mutex
	count map[netip.Prefix]anonymous
}

// anonymous counts the connections of one address without a good token.
type anonymous struct{ within, over int }

// NewConnections returns a limit of most connections an address.
func NewConnections(most int, trusted []netip.Prefix) *Connections {
	return &Connections{most: most, trusted: trusted, count: map[netip.Prefix]anonymous{}}
}

// Listener returns a listener that accepts the connections of another one within the limit, and some over
// it, whose requests OverLimit tells apart. The http.Server needs ConnContext too.
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
		if counted := l.connections.admit(tcp); counted != nil {
			return counted, nil
		}
		_ = tcp.Close() // whoever opened it has no answer to lose
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

// admit counts a connection, or returns nil where there is no place for it.
func (c *Connections) admit(tcp *net.TCPConn) *conn {
	peer := parsePeer(tcp.RemoteAddr().String())
	admitted := &conn{TCPConn: tcp, connections: c, network: network(peer)}
	if contains(c.trusted, peer) {
		return admitted
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.count[admitted.network]
	switch {
	case n.within < c.most:
		n.within++
		admitted.place.Store(within)
	case n.over < surplus:
		n.over++
		admitted.place.Store(over)
	default:
		return nil
	}
	c.count[admitted.network] = n
	return admitted
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
	n := c.count[released.network]
	switch released.place.Swap(nowhere) {
	case nowhere:
		return
	case within:
		n.within--
	case over:
		n.over--
	}
	c.count[released.network] = n
	if n == (anonymous{}) {
		delete(c.count, released.network)
	}
}

type connKey struct{}

// ConnContext is an http.Server's, and lets its requests be told apart by their connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
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
