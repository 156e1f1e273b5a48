package store

import (
	"context"
	"net"
	"time"
)

// deadlineDialer bounds every read and write on the wire: a context's deadline alone does not free a
// caller from a server that has gone silent.
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
