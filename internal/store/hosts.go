package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
)

// hosts is a connector to the first of several PostgreSQL servers that is what the URL asks for, beginning with
// the one that was so last.
type hosts struct {
	// each has one server, and names have them for errors, in the order of the URL.
	each  []*pq.Connector
	names []string
	last  atomic.Int64
}

// newHosts returns a connector to the servers of a configuration. Where the URL asks for an order of its
// own, at random or standbys first, that is lib/pq's to keep.
func newHosts(c pq.Config, dialer pq.Dialer) (*hosts, error) {
	servers := append([]pq.ConfigMultihost{{Host: c.Host, Hostaddr: c.Hostaddr, Port: c.Port}}, c.Multi...)
	if c.LoadBalanceHosts == pq.LoadBalanceHostsRandom || c.TargetSessionAttrs == pq.TargetSessionAttrsPreferStandby {
		servers = servers[:1]
	} else {
		c.Multi = nil
	}
	h := &hosts{}
	for _, s := range servers {
		c.Host, c.Hostaddr, c.Port = s.Host, s.Hostaddr, s.Port
		connector, err := pq.NewConnectorConfig(c)
		if err != nil {
			return nil, err
		}
		connector.Dialer(dialer)
		h.each, h.names = append(h.each, connector), append(h.names, fmt.Sprintf("%s:%d", c.Host, c.Port))
	}
	return h, nil
}

// Connect implements driver.Connector. Its error is an unreachableError.
func (h *hosts) Connect(ctx context.Context) (driver.Conn, error) {
	var failed unreachableError
	last := int(h.last.Load())
	for i := range h.each {
		at := (last + i) % len(h.each)
		conn, err := h.each[at].Connect(ctx)
		if err == nil {
			h.last.Store(int64(at))
			return newBufferedConn(conn)
		}
		if len(h.each) > 1 {
			err = fmt.Errorf("%s: %w", h.names[at], err)
		}
		failed.hosts = append(failed.hosts, err)
	}
	return nil, &failed
}

// Driver implements driver.Connector.
func (h *hosts) Driver() driver.Driver { return h.each[0].Driver() }

// unreachableError is returned where none of the servers could be connected to. lib/pq has no type for a server
// that is not what target_session_attrs asks for, only a text.
type unreachableError struct{ hosts []error }

func (e *unreachableError) Error() string { return errors.Join(e.hosts...).Error() }

// Unwrap returns the errors of the servers, as errors.Is and errors.As look for it.
func (e *unreachableError) Unwrap() []error { return e.hosts }

// isRetryable reports whether one of the servers may let connect to it the next time: all but those that have
// refused for good, or do not answer at all.
func (e *unreachableError) isRetryable() bool {
	return slices.ContainsFunc(e.hosts, func(err error) bool {
		if pq.As(err) != nil {
			return isRetryable(err)
		}
		return !isWireTimeout(err)
	})
}

// deadlineDialer bounds every read and write on the wire: a context's deadline alone does not free a
// caller from a server that does not answer any more.
type deadlineDialer struct{ timeout time.Duration }

// Dial implements pq.Dialer.
func (d deadlineDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, dialTimeout)
}

// DialTimeout implements pq.Dialer.
func (d deadlineDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// DialContext implements pq.DialerContext.
func (d deadlineDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return deadlineConn{conn, d.timeout}, nil
}

type deadlineConn struct {
	net.Conn
	timeout time.Duration
}

func (c deadlineConn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c deadlineConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
