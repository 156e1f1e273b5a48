package prooftest_test

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
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

// proxy stands between a server and PostgreSQL.
type proxy struct {
	listener net.Listener
	server   string
	next     atomic.Int32
	// reset ends connections by RST instead of FIN.
	reset atomic.Bool
	cuts  atomic.Int32
	// asking is told when somebody asks for an audit row; nil while nobody waits for that.
	asking atomic.Pointer[chan struct{}]
	done   chan struct{}

	mu    sync.Mutex
	conns []net.Conn
}

// newProxy returns a proxy to the database of a URL, and the URL that goes through it.
func newProxy(t *testing.T, database string) (p *proxy, through string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{listener: listener, server: u.Host, done: make(chan struct{})}
	u.Host = listener.Addr().String()
	go p.serve()
	t.Cleanup(p.close)
	return p, u.String()
}

// lose lets the next COMMIT get lost in a way.
func (p *proxy) lose(how loss, reset bool) {
	p.reset.Store(reset)
	p.next.Store(int32(how))
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		l := &link{proxy: p, client: client, server: server}
		go l.pass(server, client, l.asked)
		go l.pass(client, server, l.answered)
	}
}

func (p *proxy) close() {
	close(p.done)
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// link is one connection through a proxy.
type link struct {
	*proxy
	client, server net.Conn
	// losing is set while the answer to a COMMIT is to get lost.
	losing atomic.Bool
	once   sync.Once
}

// pass copies until either side ends or the function, which does the sending, says so.
func (l *link) pass(to, from net.Conn, send func(net.Conn, []byte) bool) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !send(to, buffer[:n]) {
			return
		}
	}
}

// asked sends what the client asks.
func (l *link) asked(to net.Conn, b []byte) bool {
	if bytes.Contains(b, []byte("COMMIT\x00")) {
		switch loss(l.next.Swap(int32(nothing))) {
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
		if asked := l.asking.Swap(nil); asked != nil {
			close(*asked)
		}
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
