package store_test

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between a store and PostgreSQL and lets the network fail.
type proxy struct {
	listener net.Listener
	server   string
	// commits is how many more answers to COMMIT get lost, with their connection.
	commits atomic.Int32
	// accepted counts the connections, and refusing is how many more of them end at once.
	accepted, refusing atomic.Int32
	// most is how many bytes of the next answer that has more get through before its connection ends; 0 is all.
	most atomic.Int64
	mu   sync.Mutex
	// silent is not nil while nothing passes, and closed when it passes again.
	silent chan struct{}
	conns  []net.Conn
}

// newProxy gives a proxy to the database of a URL, and the URL that goes through it.
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
	p = &proxy{listener: listener, server: u.Host}
	u.Host = listener.Addr().String()
	go p.serve()
	t.Cleanup(p.close)
	return p, u.String()
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.accepted.Add(1)
		if p.refusing.Add(-1) >= 0 {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		var committing atomic.Bool
		var answered atomic.Int64
		go p.pass(server, client, func(b []byte) int {
			answered.Store(0)
			if bytes.Contains(b, []byte("COMMIT\x00")) {
				committing.Store(true)
			}
			return len(b)
		})
		go p.pass(client, server, func(b []byte) int {
			if committing.CompareAndSwap(true, false) && p.commits.Add(-1) >= 0 {
				return 0
			}
			before := answered.Add(int64(len(b))) - int64(len(b))
			if most := p.most.Load(); most > 0 && before+int64(len(b)) > most && p.most.CompareAndSwap(most, 0) {
				return int(most - before)
			}
			return len(b)
		})
	}
}

// pass copies until either side ends or some is to be kept back; then both end.
func (p *proxy) pass(to, from net.Conn, howMuch func([]byte) int) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		through := howMuch(buffer[:n])
		p.wait()
		if _, err := io.Copy(to, bytes.NewReader(buffer[:through])); err != nil || through < n {
			return
		}
	}
}

func (p *proxy) wait() {
	p.mu.Lock()
	silent := p.silent
	p.mu.Unlock()
	if silent != nil {
		<-silent
	}
}

// loseCommits lets the answers to the next n COMMITs get lost, after the server carried them out.
func (p *proxy) loseCommits(n int32) { p.commits.Store(n) }

// cutAnswer ends the connection of the next answer of more bytes, once so many have got through.
func (p *proxy) cutAnswer(most int64) { p.most.Store(most) }

// refuse ends the next n connections as soon as they are made, and those that there are.
func (p *proxy) refuse(n int32) {
	p.refusing.Store(n)
	p.cut()
}

// hush stops everything that passes; nothing is closed. The function that it gives lets it pass again.
func (p *proxy) hush() (speak func()) {
	silent := make(chan struct{})
	p.mu.Lock()
	p.silent = silent
	p.mu.Unlock()
	return sync.OnceFunc(func() {
		p.mu.Lock()
		p.silent = nil
		p.mu.Unlock()
		close(silent)
	})
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.cut()
}

// closedAddress is where nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
