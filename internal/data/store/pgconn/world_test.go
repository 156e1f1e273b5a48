package pgconn_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"

	"slipway/internal/data/store/pgconn"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/testkit"
)

// connector makes connections for database/sql.
type connector struct {
	*pq.Connector
	cache pgconn.Cache
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	return pgconn.Connect(ctx, c.Connector, c.cache, nil)
}

// world is a pool of one connection, which passes a proxy.
type world struct {
	*sql.DB
	url string
	// through is the URL that leads through the proxy.
	through string
	proxy   *testkit.Proxy
	// sent counts the messages of the client, with those that go together as one.
	sent atomic.Int64

	mu     sync.Mutex
	silent chan struct{}
}

// forever is longer than any test takes.
const forever = time.Hour

// newWorld returns a world with a database of its own.
func newWorld(t testing.TB, cache pgconn.Cache) *world {
	t.Helper()
	w := &world{url: pgtest.URL(t)}
	w.proxy, w.through = testkit.NewProxy(t, w.url, func(net.Conn) (toServer, toClient testkit.Pass) {
		return func(to net.Conn, b []byte) bool {
			w.sent.Add(1)
			w.mu.Lock()
			silent := w.silent
			w.mu.Unlock()
			if silent != nil {
				<-silent
			}
			return testkit.PassAll(to, b)
		}, testkit.PassAll
	})
	w.DB = open(t, w.through, cache)
	w.SetMaxOpenConns(1)
	return w
}

func open(t testing.TB, url string, cache pgconn.Cache) *sql.DB {
	t.Helper()
	config, err := pq.NewConfig(url)
	must(t, err)
	config.BinaryParameters = true
	c, err := pq.NewConnectorConfig(config)
	must(t, err)
	c.Dialer(pgconn.Dialer{Timeout: forever})
	db := sql.OpenDB(connector{c, cache})
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// silence has nothing pass to the server until the test ends.
func (w *world) silence(t *testing.T) {
	t.Helper()
	silent := make(chan struct{})
	w.mu.Lock()
	w.silent = silent
	w.mu.Unlock()
	t.Cleanup(func() { close(silent) })
}

// trips counts the round trips of f.
func (w *world) trips(f func()) int64 {
	before := w.sent.Load()
	f()
	return w.sent.Load() - before
}

// other runs a statement in another session.
func (w *world) other(t testing.TB, statement string) {
	t.Helper()
	db, err := sql.Open("postgres", w.url)
	must(t, err)
	_, err = db.ExecContext(t.Context(), statement)
	must(t, err)
	must(t, db.Close())
}

// querier is a pool, a connection of it or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// values runs a statement and returns the columns of its first row.
func values(ctx context.Context, q querier, query string, args ...any) ([]any, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil, err
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	return row, rows.Err()
}

// expect runs a statement until it is prepared, and wants its first column each time.
func expect(t testing.TB, q querier, want any, query string, args ...any) {
	t.Helper()
	for range 3 {
		got, err := values(t.Context(), q, query, args...)
		if err != nil || len(got) == 0 || got[0] != want {
			t.Fatalf("%s: %v, %v, want %v", query, got, err, want)
		}
	}
}

// prepared returns how many statements the session has prepared.
func prepared(t testing.TB, q querier) int64 {
	t.Helper()
	got, err := values(t.Context(), q, "SELECT count(*) FROM pg_prepared_statements")
	must(t, err)
	n, _ := got[0].(int64)
	return n
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// some is a cache that is not too small for a test.
var some = pgconn.Cache{Capacity: 16}

// named returns an argument as database/sql passes it to a driver.
func named(value driver.Value) []driver.NamedValue {
	return []driver.NamedValue{{Ordinal: 1, Value: value}}
}
