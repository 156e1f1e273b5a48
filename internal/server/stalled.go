package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"slipway/internal/edge/httpx"
)

// cutStalled ends the connection of a caller who has stopped taking an answer, so that nobody makes the
// server hold one for long. A slow caller has the time again for each piece.
func cutStalled(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor > 1 {
				cutStalledStream(w, r, timeout, next)
				return
			}
			out := &pieces{ResponseWriter: w, rc: http.NewResponseController(w), ctx: r.Context(), timeout: timeout}
			next.ServeHTTP(out, r)
			if !out.hijacked {
				out.extend() // for what is written once the handler has returned
			}
		})
	}
}

// cutStalledStream is cutStalled for a stream of HTTP/2.
func cutStalledStream(w http.ResponseWriter, r *http.Request, timeout time.Duration, next http.Handler) {
	deadline := newWriteDeadline(w)
	out := &pieces{
		ResponseWriter: deadline, rc: http.NewResponseController(deadline), ctx: context.Background(), timeout: timeout,
	}
	next.ServeHTTP(out, r)
	out.extend()
	deadline.set() // for good
}

// pieces writes an answer piece by piece, each as one.
type pieces struct {
	http.ResponseWriter
	rc       *http.ResponseController
	ctx      context.Context // of the request, or one without its connection where that has other answers, too
	timeout  time.Duration
	extended time.Time
	begun    bool
	// hijacked reports whether the connection is somebody else's to watch over.
	hijacked bool
}

// Unwrap lets http.ResponseController find the connection.
func (p *pieces) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// Hijack implements http.Hijacker.
func (p *pieces) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := p.rc.Hijack()
	p.hijacked = err == nil
	return conn, buffers, err
}

// WriteHeader implements http.ResponseWriter.
func (p *pieces) WriteHeader(status int) {
	if status >= http.StatusOK {
		p.begin()
	}
	p.ResponseWriter.WriteHeader(status)
}

// begin begins the answer. By then nothing else is to be sent, such as that the server is ready for the request's body.
func (p *pieces) begin() {
	if !p.begun {
		p.begun = true
		p.extend()
		httpx.Gather(p.ctx)
	}
}

// FlushError sends what was written, as http.ResponseController has it.
func (p *pieces) FlushError() error {
	return errors.Join(p.rc.Flush(), httpx.Send(p.ctx))
}

// Write implements io.Writer.
func (p *pieces) Write(b []byte) (written int, err error) {
	p.begin()
	for {
		p.extend()
		n, err := p.ResponseWriter.Write(b[written:min(len(b), written+httpx.Piece)])
		if written += n; err != nil || written == len(b) {
			return written, err
		}
	}
}

// extend gives the caller the time anew, within an eighth: a small answer sets one deadline.
func (p *pieces) extend() {
	now := time.Now()
	if now.Sub(p.extended) < p.timeout/8 {
		return
	}
	p.extended = now
	_ = p.rc.SetWriteDeadline(now.Add(p.timeout)) // a recorder in a test has no connection
}
