package store_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// pooler stands between clients and PostgreSQL as one that pools transactions does: it has two sessions, by turns, and
// gives each to a client for one transaction. It knows nothing of prepared statements, and gives clients a key for
// canceling of its own.
type pooler struct {
	t       *testing.T
	address string
	// sessions are those that no client has.
	sessions chan *session
	once     sync.Once
	// greeting is what a session said when it began.
	greeting []byte
}

type session struct {
	net.Conn
	*bufio.Reader
}

// message is one of the protocol, with its type and its length.
type message []byte

// newPooler returns the URL of a database through a pooler.
func newPooler(t *testing.T, database string) string {
	t.Helper()
	_, through := testkit.NewProxy(t, database, testkit.AcceptAll)
	u, err := url.Parse(through)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	p := &pooler{t: t, address: u.Host, sessions: make(chan *session, 2)}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(&session{client, bufio.NewReader(client)})
		}
	}()
	u.Host = listener.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable")
	u.RawQuery = query.Encode()
	return u.String()
}

// serve serves a client until it leaves.
func (p *pooler) serve(client *session) {
	defer func() { _ = client.Conn.Close() }()
	startup, err := client.readStartup()
	if err != nil {
		return
	}
	p.once.Do(func() {
		for range cap(p.sessions) {
			p.sessions <- p.begin(startup)
		}
	})
	key := append([]byte{'K', 0, 0, 0, 12}, "somebody"...)
	if _, err := client.Write(append(append(p.greeting, key...), 'Z', 0, 0, 0, 5, 'I')); err != nil {
		return
	}
	var held *session
	for {
		m, err := client.readMessage()
		if err != nil || m[0] == 'X' {
			if held != nil { // a client that leaves in a transaction, which ends with its session
				_ = held.Conn.Close()
				p.sessions <- p.begin(startup)
			}
			return
		}
		if held == nil {
			held = <-p.sessions
		}
		if _, err := held.Write(m); err != nil {
			p.t.Error(err)
			return
		}
		if m[0] != 'S' && m[0] != 'Q' {
			continue
		}
		if idle := held.answer(client); idle {
			p.sessions <- held
			held = nil
		}
	}
}

// begin begins a session.
func (p *pooler) begin(startup []byte) *session {
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		p.t.Error(err)
		return nil
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	s := &session{conn, bufio.NewReader(conn)}
	if _, err := s.Write(startup); err != nil {
		p.t.Error(err)
	}
	var greeting []byte
	for {
		m, err := s.readMessage()
		if err != nil || m[0] == 'E' || m[0] == 'R' && binary.BigEndian.Uint32(m[5:]) != 0 {
			p.t.Errorf("a session cannot be begun without a password: %v %q", err, m)
			return s
		}
		if m[0] == 'Z' {
			break
		}
		if m[0] != 'K' {
			greeting = append(greeting, m...)
		}
	}
	if p.greeting == nil {
		p.greeting = greeting[:len(greeting):len(greeting)]
	}
	return s
}

// answer passes an answer on to the client, and reports whether the transaction has ended.
func (s *session) answer(client *session) bool {
	for {
		m, err := s.readMessage()
		if err != nil {
			return false
		}
		if _, err := client.Write(m); err != nil && m[0] != 'Z' {
			continue
		}
		if m[0] == 'Z' {
			return m[5] == 'I'
		}
	}
}

func (s *session) readStartup() ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(s.Reader, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	_, err := io.ReadFull(s.Reader, body)
	return append(head, body...), err
}

func (s *session) readMessage() (message, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(s.Reader, head); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err := io.ReadFull(s.Reader, body)
	return append(head, body...), err
}

func TestStoreWorksThroughAPoolerOfTransactions(t *testing.T) {
	t.Parallel()
	for name, parameter := range map[string]string{"that it finds": "", "that the URL tells of": "&statement_cache_capacity=0"} {
		for isolation, mode := range isolations {
			t.Run(name+" "+isolation, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Postgres(t))
				far := worldtest.Another(t, newPooler(t, w.DatabaseURL)+parameter, func(c *store.Config) { c.Isolation, c.MaxConns = mode, 4 })
				var all sync.WaitGroup
				for n := range 4 {
					all.Go(func() { useStore(t, far.Store, []*worldtest.Org{w.Acme, w.Globex}[n%2], n) })
				}
				all.Wait()
				for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
					if n := far.Store.Client.Project.Query().CountX(o.As(actor.Viewer)); n != 20 {
						t.Errorf("%d projects, want 20", n)
					}
				}
				if n := alone(w.Acme.As(actor.Admin), far.Store, "SELECT count(*)::text FROM pg_prepared_statements"); n != "0" {
					t.Errorf("a session of the pooler has %s prepared statements", n)
				}
			})
		}
	}
}

// useStore writes and reads, each statement often enough to be prepared.
func useStore(t *testing.T, s *store.Store, o *worldtest.Org, n int) {
	ctx := o.As(actor.Admin)
	for i := range 10 {
		slug := fmt.Sprintf("p%d-%d", n, i)
		err := s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error { return newProject(ctx, tx, o.ID, slug) })
		if err != nil {
			t.Error(err)
			return
		}
		all, err := s.Client.Project.Query().All(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		for _, p := range all {
			if found, err := s.Client.Project.Get(ctx, p.ID); err != nil || found.Slug != p.Slug || found.OrganizationID != o.ID {
				t.Errorf("%v, %v", found, err)
			}
		}
		if found, err := s.Client.Organization.Get(ctx, o.ID); err != nil || found.ID != o.ID {
			t.Errorf("%v, %v", found, err)
		}
	}
}
