package httpx

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Detach has serve write an answer that goes on for long. If the connection can be taken over from the http.Server,
// as that of HTTP/1.1 can, Detach returns at once, and serve runs on a goroutine of its own: the handler returns, and
// what a connection holds while one runs (its buffers and a deep stack, some 30 KB) is free. The request that serve is
// given has the values of its context, no body, and ends when its client leaves or serve returns; serve must not panic.
// Otherwise serve is called with what the handler has.
//
// Nothing may have been written yet. What serve writes leaves with Flush.
func Detach(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request)) {
	if r.ProtoMajor != 1 || r.ProtoMinor != 1 {
		serve(w, r)
		return
	}
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		serve(w, r) // of a test, for one
		return
	}
	out := &detached{conn: conn, header: w.Header().Clone(), isSecure: r.TLS != nil}
	request, cancel := Outliving(r)
	go watch(conn, in.Reader.Buffered() > 0, cancel)
	go func() {
		defer cancel()
		defer out.end()
		serve(out, request)
	}()
}

// Outliving returns a request without a body that has the values of another one's context and does not end with it.
func Outliving(r *http.Request) (*http.Request, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	request := r.WithContext(ctx)
	request.Body = http.NoBody
	return request, cancel
}

// watch calls leave when the peer of a connection has left. A peer that sends something, which it should not while it
// is answered, is not watched any more: then only a write to it tells.
func watch(conn net.Conn, hasSent bool, leave func()) {
	if hasSent {
		return
	}
	if n, err := conn.Read(make([]byte, 1)); n == 0 && err != nil {
		leave()
	}
}

// detached writes an answer of HTTP/1.1 to a connection that is closed after it.
type detached struct {
	conn   net.Conn
	header http.Header
	begun  bool
	// head and content have not been sent yet.
	head, content bytes.Buffer
	// allowed is how long a piece may take.
	allowed time.Duration
	// isSecure is whether the connection is one of TLS, which would make a record and a packet of each part.
	isSecure bool
}

// Header implements http.ResponseWriter.
func (d *detached) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *detached) WriteHeader(status int) {
	if d.begun {
		return
	}
	d.begun = true
	d.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	d.header.Set("Connection", "close")
	d.header.Set("Transfer-Encoding", "chunked")
	_, _ = fmt.Fprintf(&d.head, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status)) // a buffer takes all
	_ = d.header.Write(&d.head)
	_, _ = d.head.WriteString("\r\n")
}

// Write implements http.ResponseWriter.
func (d *detached) Write(p []byte) (int, error) {
	d.WriteHeader(http.StatusOK)
	return d.content.Write(p)
}

// SetWriteDeadline is what an http.ResponseController calls. A slow client has the time again for each piece.
func (d *detached) SetWriteDeadline(at time.Time) error {
	d.allowed = time.Until(at)
	return d.conn.SetWriteDeadline(at)
}

// Piece is how much of an answer, in bytes, a client has to take in the time of one write.
const Piece = 16 << 10

// FlushError sends what was written, as http.ResponseController has it.
func (d *detached) FlushError() error {
	for d.head.Len()+d.content.Len() > 0 {
		next := net.Buffers{d.head.Next(d.head.Len())}
		if part := d.content.Next(Piece); len(part) > 0 {
			next = append(next, fmt.Appendf(nil, "%x\r\n", len(part)), part, []byte("\r\n"))
		}
		if d.isSecure {
			next = net.Buffers{bytes.Join(next, nil)}
		}
		if _, err := next.WriteTo(d.conn); err != nil {
			return err
		}
		_ = d.conn.SetWriteDeadline(time.Now().Add(d.allowed))
	}
	d.head, d.content = bytes.Buffer{}, bytes.Buffer{} // most streams are silent most of the time
	return nil
}

// end ends the answer, and the connection.
func (d *detached) end() {
	if d.FlushError() == nil && d.begun {
		_, _ = d.conn.Write([]byte("0\r\n\r\n"))
	}
	_ = d.conn.Close()
}
