package rest_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"slipway/internal/actor"
	"slipway/internal/worldtest"
)

func TestADatabaseThatIsDownIsTold(t *testing.T) {
	t.Parallel()
	database := worldtest.Postgres(t)
	w := worldtest.New(t, database)
	d := w.Fixture(t, w.Acme, "web").Succeeded(t)
	line := newLine(t, database)
	through := worldtest.Another(t, line.url)
	read := exchange{method: http.MethodGet, path: "/deployments/" + d.ID, token: w.Acme.Tokens[actor.Viewer]}
	if got := ask(t, through, read); got.Status != http.StatusOK {
		t.Fatalf("before the outage: %d %s", got.Status, got.Body)
	}
	line.cut()
	known, unknown := read, read
	unknown.token = w.Acme.Tokens[actor.Admin] // which this server has to look up
	for _, e := range []exchange{known, unknown, {method: http.MethodGet, path: "/module-definitions"}} {
		got := ask(t, through, e)
		if got.Status != http.StatusServiceUnavailable || got.Code(t) != "slipway:Server:UNAVAILABLE" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %v", e.path, got.Status, got.Body, got.Header)
		}
	}
}

// line is a way to a PostgreSQL server that can be cut.
type line struct {
	url      string
	listener net.Listener
	mu       sync.Mutex
	open     []net.Conn
}

func newLine(t *testing.T, database string) *line {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", u.Host
	query := u.Query()
	if directory := query.Get("host"); directory != "" {
		network, address = "unix", filepath.Join(directory, ".s.PGSQL."+u.Port())
		if port := query.Get("port"); port != "" {
			address = filepath.Join(directory, ".s.PGSQL."+port)
		}
	}
	l := &line{}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.cut)
	query.Del("host")
	query.Del("port")
	u.Host, u.RawQuery = l.listener.Addr().String(), query.Encode()
	l.url = u.String()
	go l.serve(network, address)
	return l
}

func (l *line) serve(network, address string) {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial(network, address)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mu.Lock()
		l.open = append(l.open, near, far)
		l.mu.Unlock()
		go func() { _, _ = io.Copy(near, far) }()
		go func() { _, _ = io.Copy(far, near) }()
	}
}

func (l *line) cut() {
	_ = l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.open {
		_ = c.Close()
	}
}
