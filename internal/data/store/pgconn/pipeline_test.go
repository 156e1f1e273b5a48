package pgconn_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"slipway/internal/data/store/pgconn"
	"slipway/internal/test/testkit"
)

// session is the only connection of a pool, in transactions.
type session struct {
	*sql.Conn
	t *testing.T
}

func newSession(t *testing.T, db *sql.DB) session {
	t.Helper()
	conn, err := db.Conn(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return session{conn, t}
}

// raw calls f with the connection.
func (s session) raw(f func(*pgconn.Conn) error) error {
	return s.Conn.Raw(func(c any) error { return f(c.(*pgconn.Conn)) })
}

const clock = "SELECT clock_timestamp(), set_config('app.who', $1, true)"

// begin begins a transaction whose first statement has the argument "me".
func (s session) begin(first string) {
	s.t.Helper()
	must(s.t, s.raw(func(c *pgconn.Conn) error { return c.BeginWith(s.t.Context(), false, first, "me") }))
}

// commitWith has COMMIT go with the next statement.
func (s session) commitWith() {
	s.t.Helper()
	must(s.t, s.raw(func(c *pgconn.Conn) error {
		c.CommitWith()
		return nil
	}))
}

func (s session) commit() error   { return s.raw((*pgconn.Conn).Commit) }
func (s session) rollback() error { return s.raw((*pgconn.Conn).Rollback) }

// insert inserts a row into t, a table with a column id.
func (s session) insert(id int) error {
	_, err := s.ExecContext(context.Background(), "INSERT INTO t (id) VALUES ($1)", id)
	return err
}

// ids returns the rows of t, as another session sees them.
func (w *world) ids(t *testing.T) string {
	t.Helper()
	db, err := sql.Open("postgres", w.url)
	must(t, err)
	defer func() { _ = db.Close() }()
	var all sql.NullString
	must(t, db.QueryRowContext(t.Context(), "SELECT string_agg(id::text, ' ' ORDER BY id) FROM t").Scan(&all))
	return all.String
}

func TestTransactionBeginsWithItsFirstStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	s := newSession(t, w.DB)
	for name, c := range map[string]struct {
		statement string
		args      []any
		want      int64
	}{
		"with arguments": {"SELECT current_setting('app.who'), $1::int8", []any{1}, 1},
		// It goes as a message of another kind.
		"without arguments": {"SELECT current_setting('app.who')", nil, 2},
	} {
		var trips int64
		for range 4 { // as it is, prepared, and as it was prepared
			s.begin(clock)
			trips = w.trips(func() {
				got, err := values(t.Context(), s, c.statement, c.args...)
				if err != nil || got[0] != "me" {
					t.Errorf("%s: %v, %v", name, got, err)
				}
			})
			must(t, s.raw(func(conn *pgconn.Conn) error {
				at, err := conn.Began(t.Context())
				if away := time.Since(at).Abs(); away > time.Minute {
					t.Errorf("%s: it began at %s", name, at)
				}
				return err
			}))
			must(t, s.commit())
			if got, err := values(t.Context(), s, "SELECT current_setting('app.who', true)"); err != nil || got[0] != "" {
				t.Errorf("%s: after the transaction %v, %v", name, got, err)
			}
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", name, trips, c.want)
		}
	}
}

// firsts returns the names of the first statements of transactions that the session has prepared.
func (s session) firsts() []string {
	s.t.Helper()
	rows, err := s.QueryContext(s.t.Context(), "SELECT name FROM pg_prepared_statements WHERE name LIKE 'begin%'")
	must(s.t, err)
	defer func() { must(s.t, rows.Close()) }()
	var names []string
	for rows.Next() {
		var name string
		must(s.t, rows.Scan(&name))
		names = append(names, name)
	}
	must(s.t, rows.Err())
	return names
}

func TestFirstStatementIsPreparedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	s := newSession(t, w.DB)
	const most = 8
	for texts := range 20 {
		for range 3 {
			s.begin(fmt.Sprint(clock, ", ", texts))
			expect(t, s, "me", "SELECT current_setting('app.who'), $1::text", "x")
			must(t, s.commit())
		}
		if got, want := len(s.firsts()), min(texts+1, most); got != want {
			t.Errorf("%d are prepared after %d, want %d", got, texts+1, want)
		}
	}
}

func TestNothingIsPreparedWhereNothingIsToBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, pgconn.Cache{})
	s := newSession(t, w.DB)
	for range 3 {
		s.begin(clock)
		expect(t, s, "me", "SELECT current_setting('app.who'), $1::text", "x")
		must(t, s.commit())
	}
	if got := s.firsts(); got != nil {
		t.Errorf("%s are prepared", got)
	}
}

func TestTransactionInASessionThatSomebodyElseUsesIsStaleAndThenRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	first := newSession(t, w.DB)
	first.begin(clock)
	expect(t, first, "me", "SELECT current_setting('app.who'), $1::text", "x")
	must(t, first.commit())
	for name, c := range map[string]struct {
		own string
		// used has the connection begin a transaction before.
		used bool
	}{
		"discarded":               {"DISCARD ALL", true},
		"deallocated":             {"DEALLOCATE ALL", true},
		"prepared by another one": {"PREPARE " + first.firsts()[0] + " AS SELECT 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, some)
			w.other(t, "CREATE TABLE t (id int8)")
			s := newSession(t, w.DB)
			if c.used {
				s.begin(clock)
				must(t, s.insert(9))
				must(t, s.rollback())
			}
			must(t, second(s.ExecContext(t.Context(), c.own)))
			s.begin(clock)
			if err := s.insert(0); !errors.Is(err, pgconn.ErrStale) {
				t.Errorf("%v, want ErrStale", err)
			}
			must(t, s.rollback())
			before := s.firsts()
			for run := range 4 {
				s.begin(clock)
				must(t, s.insert(run))
				must(t, s.commit())
			}
			if got, want := w.ids(t), "0 1 2 3"; got != want {
				t.Errorf("rows %s, want %s", got, want)
			}
			if after := s.firsts(); len(after) != len(before) {
				t.Errorf("%s are prepared", after)
			}
		})
	}
}

func TestTransactionWhoseFirstStatementHasNoArgumentsIsNotBegun(t *testing.T) {
	t.Parallel()
	s := newSession(t, newWorld(t, some).DB)
	if s.raw(func(c *pgconn.Conn) error { return c.BeginWith(t.Context(), false, "SELECT clock_timestamp()") }) == nil {
		t.Error("it is begun")
	}
	expect(t, s, nil, "SELECT current_setting('app.who', true), $1::text", "x")
}

func TestTransactionBeginsAfterAChangeThatMadeAnotherStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t AS SELECT 1::int8 AS id")
	s := newSession(t, w.DB)
	find := func() error {
		s.begin(clock)
		_, err := values(t.Context(), s, "SELECT * FROM t WHERE id = $1", 1)
		return errors.Join(err, s.rollback())
	}
	for range 3 {
		must(t, find())
	}
	w.other(t, "ALTER TABLE t ADD COLUMN more text")
	if err := find(); !errors.Is(err, pgconn.ErrStale) {
		t.Errorf("%v, want ErrStale", err)
	}
	for range 3 {
		must(t, find())
	}
	if n := len(s.firsts()); n != 1 {
		t.Errorf("%d first statements are prepared, want 1", n)
	}
}

func TestTransactionIsRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t (id int8)")
	s := newSession(t, w.DB)
	for i := range 4 {
		s.begin(clock)
		must(t, s.insert(i))
		must(t, s.rollback())
	}
	if got := w.ids(t); got != "" {
		t.Errorf("rows %s", got)
	}
}

func TestTransactionOfWhichNothingWasSentTakesNoRoundTrip(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	s := newSession(t, w.DB)
	for name, end := range map[string]func() error{"commit": s.commit, "rollback": s.rollback} {
		n := w.trips(func() {
			s.begin(clock)
			must(t, end())
		})
		if n != 0 {
			t.Errorf("%s: %d round trips", name, n)
		}
		if got, err := values(t.Context(), s, "SELECT current_setting('app.who', true), $1::text", "x"); err != nil || got[0] != nil {
			t.Errorf("%s: the next statement runs in the transaction: %v, %v", name, got, err)
		}
	}
}

func TestWhatTheServerSaysAmongTheAnswersToABeginIsNotLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, `CREATE FUNCTION tell() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', repeat('w', 6000); RETURN 1; END $$`)
	_, through := testkit.NewProxy(t, w.url, func(net.Conn) (toServer, toClient testkit.Pass) {
		return testkit.PassAll, func(to net.Conn, b []byte) bool {
			// A setting changes. Servers of before version 14 say so at once.
			if b[0] == '1' && !testkit.PassAll(to, []byte("S\x00\x00\x00\x18TimeZone\x00Asia/Tokyo\x00")) {
				return false
			}
			for i := range b { // a byte at a time
				if !testkit.PassAll(to, b[i:i+1]) {
					return false
				}
			}
			return true
		}
	})
	s := newSession(t, open(t, through, some))
	for range 4 {
		s.begin("SELECT clock_timestamp(), tell(), set_config('TimeZone', 'Asia/Tokyo', true), set_config('application_name', $1, true)")
		got, err := values(t.Context(), s, "SELECT $1::text || current_setting('TimeZone'), '2026-01-01T00:00:00Z'::timestamptz", "in ")
		must(t, err)
		at, ok := got[1].(time.Time)
		if got[0] != "in Asia/Tokyo" || !ok || at.Location().String() != "Asia/Tokyo" {
			t.Errorf("%v", got)
		}
		must(t, s.commit())
	}
}

func TestBeginThatIsRefusedIsTheErrorOfItsFirstStatement(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]int{"as it is": 0, "prepared": 1, "as it was prepared": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, some)
			w.other(t, "CREATE TABLE t (id int8)")
			s := newSession(t, w.DB)
			for i := range prepare {
				must(t, s.insert(i))
			}
			before := w.ids(t)
			s.begin("SELECT clock_timestamp(), 1 / 0, $1::text")
			if err := s.insert(7); pq.As(err, pqerror.DivisionByZero) == nil {
				t.Error(err)
			}
			must(t, s.rollback())
			if got := w.ids(t); got != before {
				t.Errorf("rows %s, want %s", got, before)
			}
			if s.raw(func(c *pgconn.Conn) error {
				if c.IsValid() {
					t.Error("the connection is used again")
				}
				return nil
			}) != nil {
				t.Error("the connection is lost")
			}
		})
	}
}

func TestTransactionThatReadsOnlyWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t (id int8)")
	s := newSession(t, w.DB)
	must(t, s.raw(func(c *pgconn.Conn) error { return c.BeginWith(t.Context(), true, clock, "me") }))
	if err := s.insert(1); pq.As(err, pqerror.ReadOnlySQLTransaction) == nil {
		t.Error(err)
	}
	must(t, s.rollback())
}

func TestTransactionCommitsWithItsLastStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t (id int8)")
	s := newSession(t, w.DB)
	var trips int64
	for i := range 4 {
		trips = w.trips(func() {
			s.begin(clock)
			must(t, s.insert(10+i))
			s.commitWith()
			must(t, s.insert(20+i))
			must(t, s.commit())
		})
	}
	if trips != 2 {
		t.Errorf("%d round trips, want 2", trips)
	}
	if got, want := w.ids(t), "10 11 12 13 20 21 22 23"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	expect(t, s, "x", "SELECT $1::text", "x")
}

func TestTransactionWhoseLastStatementFailsIsRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t (id int8 UNIQUE)")
	s := newSession(t, w.DB)
	must(t, s.insert(7))
	for i := range 4 {
		s.begin(clock)
		must(t, s.insert(10+i))
		s.commitWith()
		if err := s.insert(7); pq.As(err, pqerror.UniqueViolation) == nil {
			t.Error(err)
		}
		must(t, s.rollback())
		if got := w.ids(t); got != "7" {
			t.Errorf("rows %s", got)
		}
		expect(t, s, "x", "SELECT $1::text", "x")
	}
}

func TestWhatOnlyCommitRefusesIsItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t (id int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	s := newSession(t, w.DB)
	must(t, s.insert(7))
	for range 4 {
		s.begin(clock)
		must(t, second(values(t.Context(), s, "SELECT $1::int8", 1)))
		s.commitWith()
		must(t, s.insert(7))
		if err := s.commit(); pq.As(err, pqerror.UniqueViolation) == nil {
			t.Error(err)
		}
		expect(t, s, "x", "SELECT $1::text", "x")
	}
	if got := w.ids(t); got != "7" {
		t.Errorf("rows %s", got)
	}
}

func second[T any](_ T, err error) error { return err }

func TestTransactionTakesTwoRoundTripsOverTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	w.other(t, "CREATE TABLE t (id int8)")
	s := newSession(t, open(t, overTLS(t, w.through), some))
	var trips int64
	for i := range 4 {
		trips = w.trips(func() {
			s.begin(clock)
			must(t, s.insert(10+i))
			s.commitWith()
			must(t, s.insert(20+i))
			must(t, s.commit())
		})
	}
	if trips != 2 {
		t.Errorf("%d round trips, want 2", trips)
	}
	if got, want := w.ids(t), "10 11 12 13 20 21 22 23"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}

// overTLS returns a URL that leads through a server of TLS to that of another URL.
func overTLS(t *testing.T, plain string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(forever)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
	u, err := url.Parse(plain)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func(server string) {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go encrypt(client, server, config)
		}
	}(u.Host)
	query := u.Query()
	query.Set("sslmode", "require")
	u.Host, u.RawQuery = listener.Addr().String(), query.Encode()
	return u.String()
}

// encrypt passes on to a server what a client sends over TLS, and back.
func encrypt(client net.Conn, server string, config *tls.Config) {
	defer func() { _ = client.Close() }()
	const request = 8 // bytes: the client asks for TLS
	if _, err := io.CopyN(io.Discard, client, request); err != nil {
		return
	}
	if _, err := client.Write([]byte("S")); err != nil {
		return
	}
	encrypted := tls.Server(client, config)
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, encrypted)
		_ = to.Close()
	}()
	_, _ = io.Copy(encrypted, to)
}
