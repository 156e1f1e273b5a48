package store_test

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"slipway/internal/test/testkit"
)

// proxy stands between a store and PostgreSQL and lets the network fail.
type proxy struct {
	*testkit.Proxy
	// commits is how many more answers to COMMIT get lost, with their connection.
	commits atomic.Int32
	// leaves is how many more connections end once COMMIT has got through.
	leaves atomic.Int32
	// accepted counts the connections, and refusing is how many more of them end at once.
	accepted, refusing atomic.Int32
	// sent counts the messages of the clients, with those that go together as one: a round trip each.
	sent atomic.Int64
	// most is how many bytes of the next answer that has more get through before its connection ends; 0 is all.
	most atomic.Int64
	mu   sync.Mutex
	// silent is not nil while nothing passes, and closed when it passes again.
	silent chan struct{}
}

// newProxy returns a proxy to the database of a URL, and the URL that goes through it.
func newProxy(t *testing.T, database string) (p *proxy, through string) {
	t.Helper()
	p = &proxy{}
	p.Proxy, through = testkit.NewProxy(t, database, p.accept)
	return p, through
}

func (p *proxy) accept(net.Conn) (toServer, toClient testkit.Pass) {
	p.accepted.Add(1)
	if p.refusing.Add(-1) >= 0 {
		return nil, nil
	}
	var committing atomic.Bool
	var answered atomic.Int64
	toServer = func(to net.Conn, b []byte) bool {
		p.sent.Add(1)
		answered.Store(0)
		if bytes.Contains(b, []byte("COMMIT\x00")) {
			committing.Store(true)
		}
		return p.pass(to, b, len(b)) && (!committing.Load() || p.leaves.Add(-1) < 0)
	}
	toClient = func(to net.Conn, b []byte) bool {
		if committing.CompareAndSwap(true, false) && p.commits.Add(-1) >= 0 {
			return p.pass(to, b, 0)
		}
		before := answered.Add(int64(len(b))) - int64(len(b))
		if most := p.most.Load(); most > 0 && before+int64(len(b)) > most && p.most.CompareAndSwap(most, 0) {
			return p.pass(to, b, int(most-before))
		}
		return p.pass(to, b, len(b))
	}
	return toServer, toClient
}

// trips counts the round trips of f.
func (p *proxy) trips(f func()) int64 {
	before := p.sent.Load()
	f()
	return p.sent.Load() - before
}

// pass writes the first n bytes once something passes; without the others the connection ends.
func (p *proxy) pass(to net.Conn, b []byte, n int) bool {
	p.mu.Lock()
	silent := p.silent
	p.mu.Unlock()
	if silent != nil {
		<-silent
	}
	return testkit.PassAll(to, b[:n]) && n == len(b)
}

// loseCommits lets the answers to the next n COMMITs get lost, after the server carried them out.
func (p *proxy) loseCommits(n int32) { p.commits.Store(n) }

// leaveCommits ends the connections of the next n COMMITs, which the server gets.
func (p *proxy) leaveCommits(n int32) { p.leaves.Store(n) }

// cutAnswer ends the connection of the next answer of more bytes, once so many have got through.
func (p *proxy) cutAnswer(most int64) { p.most.Store(most) }

// refuse ends the next n connections as soon as they are made, and those that there are.
func (p *proxy) refuse(n int32) {
	p.refusing.Store(n)
	p.Cut()
}

// silence stops everything that passes; nothing is closed. The function that it returns lets it pass again.
func (p *proxy) silence() (resume func()) {
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
