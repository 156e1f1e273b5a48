package pgconn

import (
	"context"
	"net"
	"time"
)

const (
	dialTimeout = 2 * time.Second
	keepAlive   = 15 * time.Second
	// grace is how long after the deadline of a context the wire ends: so the context has ended before, and its error
	// is what is reported.
	grace = 10 * time.Millisecond
)

// Dialer is a pq.Dialer of connections on which each read and each write is bounded: by Timeout, and while a statement
// is sent and its answer read, or the connection is made, by the deadline of the context.
type Dialer struct{ Timeout time.Duration }

// Dial implements pq.Dialer.
func (d Dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, dialTimeout)
}

// DialTimeout implements pq.Dialer.
func (d Dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// wireKey is the key of where Connect finds the wire of the connection that was made last for it.
type wireKey struct{}

// DialContext implements pq.DialerContext.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, timeout: d.Timeout}
	w.until, _ = ctx.Deadline()
	if found, ok := ctx.Value(wireKey{}).(**wire); ok {
		*found = w
	}
	return w, nil
}

// wire is a connection of the network.
type wire struct {
	net.Conn
	timeout time.Duration
	// until is the deadline of what is under way, or the zero time.
	until time.Time
}

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	if err := w.SetReadDeadline(w.deadline()); err != nil {
		return 0, err
	}
	return w.Conn.Read(b)
}

// Write implements net.Conn.
func (w *wire) Write(b []byte) (int, error) {
	if err := w.SetWriteDeadline(w.deadline()); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

func (w *wire) deadline() time.Time {
	end := time.Now().Add(w.timeout)
	if !w.until.IsZero() && w.until.Add(grace).Before(end) {
		return w.until.Add(grace)
	}
	return end
}
