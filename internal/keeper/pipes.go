package keeper

import (
	"os"
	"sync/atomic"
	"time"
)

const (
	// linger is how long to wait for output that something which has left the program's group may still
	// write, and maxTail how many bytes of it are read.
	linger  = time.Second
	maxTail = 1 << 20
)

// pipe is one way to or from a program.
type pipe struct {
	r, w *os.File
	// over says that the program has ended, and left is how much is still read then.
	over atomic.Bool
	left int
}

// pipes are a program's.
type pipes struct{ stdin, stdout, stderr pipe }

func newPipes() (*pipes, error) {
	p := &pipes{}
	for _, one := range []*pipe{&p.stdin, &p.stdout, &p.stderr} {
		var err error
		if one.r, one.w, err = os.Pipe(); err != nil {
			p.close()
			return nil, err
		}
		one.left = maxTail
	}
	return p, nil
}

// started closes the program's ends.
func (p *pipes) started() {
	_ = p.stdin.r.Close()
	_ = p.stdout.w.Close()
	_ = p.stderr.w.Close()
}

// feed writes the program's input. A program need not read it.
func (p *pipes) feed(input []byte) {
	_, _ = p.stdin.w.Write(input)
	_ = p.stdin.w.Close()
}

// ended makes sure that reading ends: what is in the pipes is read, but no other process is waited for.
func (p *pipes) ended() {
	_ = p.stdin.w.Close()
	for _, one := range []*pipe{&p.stdout, &p.stderr} {
		one.over.Store(true)
		_ = one.r.SetReadDeadline(time.Now().Add(linger))
	}
}

// close closes what is still open.
func (p *pipes) close() {
	for _, one := range []*pipe{&p.stdin, &p.stdout, &p.stderr} {
		_ = one.r.Close() // a nil or closed file says so, which is well
		_ = one.w.Close()
	}
}

// Read implements io.Reader.
func (p *pipe) Read(into []byte) (int, error) {
	if !p.over.Load() {
		return p.r.Read(into)
	}
	if p.left <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	// The time that a line took to be taken does not count.
	_ = p.r.SetReadDeadline(time.Now().Add(linger))
	n, err := p.r.Read(into)
	p.left -= n
	return n, err
}
