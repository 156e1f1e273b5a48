package httpx

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Gather has what is written to a request's connection leave together. An http.Server sends an answer as its buffer of
// 4 KiB fills and empties: the first 4 KiB, then what is large, then the end, each with a system call and a packet of
// its own. Over TLS the records are gathered. It is not for HTTP/2, whose connections have the answers of others, too.
// It sends what it has gathered if that is more than Piece, with Send, and when the server is done with the request or
// waits for more of it.
func Gather(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.unsent.gather()
	}
}

// Send sends what was gathered. What is written after it leaves as the server sends it.
func Send(ctx context.Context) error {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		return c.send()
	}
	return nil
}

// Read implements net.Conn. An http.Server that has answered reads on where the body has not come to its end, and its
// client may wait for the answer.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.send(); err != nil {
		return 0, err
	}
	return c.TCPConn.Read(p)
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) { return c.unsent.write(c.TCPConn, p) }

// ReadFrom implements io.ReaderFrom.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	if err := c.send(); err != nil {
		return 0, err
	}
	return c.TCPConn.ReadFrom(r)
}

// SetWriteDeadline implements net.Conn. An http.Server calls it when it is done with a request, before it waits for the
// next one or closes the connection. What was gathered still has the deadline that was set before.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if err := c.send(); err != nil {
		return err
	}
	return c.TCPConn.SetWriteDeadline(t)
}

// send sends what was gathered. The server has counted it as written, so that without it the connection is of no use.
func (c *conn) send() error {
	err := c.unsent.send(c.TCPConn)
	if err != nil {
		_ = c.Close()
	}
	return err
}

// unsent is what a connection has gathered.
type unsent struct {
	mu sync.Mutex
	// bytes is nil while nothing is gathered.
	bytes *[]byte
}

// pieces are buffers of one Piece, so that a connection that waits for a request has none.
var pieces = sync.Pool{New: func() any { return new(make([]byte, 0, Piece)) }}

func (u *unsent) gather() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bytes == nil {
		u.bytes, _ = pieces.Get().(*[]byte)
	}
}

func (u *unsent) write(to *net.TCPConn, p []byte) (int, error) {
	u.mu.Lock()
	if u.bytes == nil {
		u.mu.Unlock() // who takes a connection over may set a deadline to end a write that stalls
		return to.Write(p)
	}
	defer u.mu.Unlock()
	if len(*u.bytes)+len(p) <= Piece {
		*u.bytes = append(*u.bytes, p...)
		return len(p), nil
	}
	before := len(*u.bytes)
	n, err := (&net.Buffers{*u.bytes, p}).WriteTo(to)
	*u.bytes = (*u.bytes)[:0]
	return max(int(n)-before, 0), err
}

// send sends what was gathered, and gathers no more.
func (u *unsent) send(to *net.TCPConn) (err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bytes == nil {
		return nil
	}
	if len(*u.bytes) > 0 {
		_, err = to.Write(*u.bytes)
	}
	*u.bytes = (*u.bytes)[:0]
	pieces.Put(u.bytes)
	u.bytes = nil
	return err
}
