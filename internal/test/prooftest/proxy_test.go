package prooftest_test

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"slipway/internal/test/testkit"
)

// loss is a way for a COMMIT to get lost, with its connection.
type loss int32

const (
	// nothing is lost.
	nothing loss = iota
	// answerLost has the COMMIT carried out and its answer lost.
	answerLost
	// commitLost has it lost on its way.
	commitLost
	// either has it pass while the connection ends: nobody knows.
	either
	// late has it arrive when the connection has ended and somebody has asked whether it did.
	late
)

// proxy stands between a server and PostgreSQL and loses COMMITs.
type proxy struct {
	next atomic.Int32
	// passing is how many COMMITs pass before that one.
	passing atomic.Int32
	// reset ends connections by RST instead of FIN.
	reset atomic.Bool
	cuts  atomic.Int32
	// asking is told when somebody asks for an audit row; nil while nobody waits for that.
	asking atomic.Pointer[chan struct{}]
	done   <-chan struct{}
}

// newProxy returns a proxy to the database of a URL, and the URL that goes through it.
func newProxy(t *testing.T, database string) (p *proxy, through string) {
	t.Helper()
	p = &proxy{done: t.Context().Done()}
	_, through = testkit.NewProxy(t, database, func(client net.Conn) (toServer, toClient testkit.Pass) {
		l := &link{proxy: p, client: client}
		return l.asked, l.answered
	})
	return p, through
}

// lose lets the next COMMIT get lost in a way.
func (p *proxy) lose(how loss, reset bool) { p.loseAfter(0, how, reset) }

// loseAfter lets a COMMIT get lost when so many others have passed.
func (p *proxy) loseAfter(passing int32, how loss, reset bool) {
	p.reset.Store(reset)
	p.passing.Store(passing)
	p.next.Store(int32(how))
}

// onCommit says how a COMMIT gets lost that comes now.
func (p *proxy) onCommit() loss {
	if p.passing.Add(-1) >= 0 {
		return nothing
	}
	return loss(p.next.Swap(int32(nothing)))
}

// arrive lets a COMMIT arrive that is late.
func (p *proxy) arrive() {
	if asked := p.asking.Swap(nil); asked != nil {
		close(*asked)
	}
}

// link is one connection through a proxy.
type link struct {
	*proxy
	client net.Conn
	// losing is set while the answer to a COMMIT is to get lost.
	losing atomic.Bool
	once   sync.Once
}

// asked sends what the client asks.
func (l *link) asked(to net.Conn, b []byte) bool {
	if bytes.Contains(b, []byte("COMMIT\x00")) {
		switch l.onCommit() {
		case answerLost:
			l.losing.Store(true)
		case commitLost:
			return l.cut()
		case either:
			_, _ = to.Write(b)
			return l.cut()
		case late:
			asked := make(chan struct{})
			l.asking.Store(&asked)
			l.cut()
			select {
			case <-asked:
			case <-l.done:
			}
			_, _ = to.Write(b)
			return false
		}
	}
	_, err := to.Write(b)
	if bytes.Contains(b, []byte("audit_events")) {
		l.arrive()
	}
	return err == nil
}

// answered sends what the server answers.
func (l *link) answered(to net.Conn, b []byte) bool {
	if l.losing.Load() {
		return l.cut()
	}
	_, err := to.Write(b)
	return err == nil
}

// cut ends the connection to the client, and with it the one to the server.
func (l *link) cut() bool {
	l.once.Do(func() {
		l.cuts.Add(1)
		if c, ok := l.client.(*net.TCPConn); ok && l.reset.Load() {
			_ = c.SetLinger(0)
		}
		_ = l.client.Close()
	})
	return false
}
