package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"slipway/internal/data/store/dburl"
)

const (
	// statementTimeout ends a statement on the server; wireTimeout, above it, ends the wait for a server
	// that does not answer any more.
	statementTimeout = time.Second
	wireTimeout      = 1500 * time.Millisecond
	// idleInTransaction ends a transaction whose client has gone.
	idleInTransaction = 5 * time.Second
	// connectTimeout is how long a connection may take that notifications come from.
	connectTimeout = 2 * time.Second
	// randomPageCost is that of a database in memory or on a solid-state disk. PostgreSQL's own, four times
	// as much for a disk that turns, has it fetch and sort a whole list rather than follow an index as far as
	// the page goes. What the URL sets in its options takes precedence.
	randomPageCost = 1
)

func openPostgres(dsn string, c Config) (*Store, dialect.Driver, error) {
	config, cache, err := dburl.ParseDSN(dsn)
	if err != nil {
		return nil, nil, err
	}

	isolation := cmp.Or(c.Isolation, DefaultIsolation)
	// No statement is allowed the time that compiling it takes: as much as a second if the cost is guessed too high.
	config.Options = fmt.Sprintf("-c random_page_cost=%d -c jit=off %s -c statement_timeout=%d "+
		"-c idle_in_transaction_session_timeout=%d -c app.isolation=%s",
		randomPageCost, config.Options, statementTimeout.Milliseconds(), idleInTransaction.Milliseconds(), isolation)
	// What is not prepared takes one round trip a statement instead of two.
	config.BinaryParameters = true
	cache.OnPooler = sync.OnceFunc(func() {
		cmp.Or(c.Log, slog.Default()).Info(
			"a pooler is in front of the database: no statement is prepared, see statement_cache_capacity")
	})

	found := &lookups{}
	cache.OnLookup = found.add
	fit := &fitness{}
	servers, err := newHosts(config, cache, fit)
	if err != nil {
		return nil, nil, err
	}

	db := sql.OpenDB(servers)
	conns := cmp.Or(c.MaxConns, DefaultMaxConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)

	s := &Store{
		dialect: dialect.Postgres, db: db, reads: db,
		lookups: found, connector: servers, fitness: fit,
		close: []func() error{db.Close}, closed: make(chan struct{}),
	}
	s.strict, s.listenURL = isolation == Strict, dsn
	return s, tenantDriver{pool{db, conns}, s.strict}, nil
}

// tenantDriver sets the organization for row-level security at the begin of each transaction.
type tenantDriver struct {
	pool   pool
	strict bool
}

// Dialect implements dialect.Driver.
func (tenantDriver) Dialect() string { return dialect.Postgres }

// Close implements dialect.Driver.
func (d tenantDriver) Close() error { return d.pool.db.Close() }

// Exec implements dialect.Driver.
func (tenantDriver) Exec(context.Context, string, any, any) error {
	return errors.New("store: write outside a transaction")
}

// The statements that begin a transaction: setScope one of no run, and runStatements those of a run by how it takes the
// lock of its organization's creations.
//
// They set the limits of time again, because behind a pooler of transactions the session may be another than the one
// whose limits were read back.
var (
	setScope = fmt.Sprintf("SELECT clock_timestamp(), "+
		"set_config('app.org_id', $1, true), set_config('app.isolation', 'strict', true), "+
		"set_config('statement_timeout', '%d', true), set_config('idle_in_transaction_session_timeout', '%d', true)",
		statementTimeout.Milliseconds(), idleInTransaction.Milliseconds())
	lockRun = setScope + ", pg_advisory_xact_lock($2)"
)

var runStatements = [...]string{
	unlocked:  lockRun,
	shared:    lockRun + ", pg_advisory_xact_lock_shared(hashtextextended('creation in ' || $1, 0))",
	exclusive: lockRun + ", pg_advisory_xact_lock(hashtextextended('creation in ' || $1, 0))",
}

// BeginTx begins a transaction of the actor's scope, which the database hears of with the first statement.
func (d tenantDriver) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}

	if o == nil {
		o = &sql.TxOptions{}
	}
	if o.Isolation != sql.LevelDefault {
		return nil, fmt.Errorf("store: a transaction of the isolation level %s", o.Isolation)
	}
	if strings.ContainsRune(scope, 0) {
		return nil, fmt.Errorf("store: an organization with a NUL character: %q", scope)
	}

	var t *pooledTx
	if run := runOf(ctx); run != nil {
		t = d.pool.begin(ctx, o.ReadOnly, runStatements[run.creation], scope, strconv.FormatInt(run.lock, 10))
		run.tx = t
	} else {
		t = d.pool.begin(ctx, o.ReadOnly, setScope, scope)
	}
	return entTx{entsql.Conn{ExecQuerier: t}, t}, nil
}

// Tx begins a transaction of the actor's scope.
func (d tenantDriver) Tx(ctx context.Context) (dialect.Tx, error) { return d.BeginTx(ctx, nil) }

// Query reads: in strict isolation in a transaction of its own, which ends with the rows.
func (d tenantDriver) Query(ctx context.Context, query string, args, v any) error {
	if !d.strict {
		return d.pool.query(ctx, query, args, v)
	}
	tx, err := d.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	if err := tx.Query(ctx, query, args, v); err != nil {
		return rollBack(tx, err)
	}
	rows, ok := v.(*entsql.Rows)
	if !ok {
		return rollBack(tx, fmt.Errorf("store: rows are %T", v))
	}
	rows.ColumnScanner = txRows{rows.ColumnScanner, tx}
	return nil
}

// txRows are rows whose transaction ends when they are closed.
type txRows struct {
	entsql.ColumnScanner
	tx dialect.Tx
}

func (r txRows) Close() error {
	err := r.ColumnScanner.Close()
	if end := r.tx.Rollback(); err == nil {
		err = end
	}
	return err
}

// BypassesRowSecurity reports whether the database's role is one that row-level security does not hold: a
// superuser, or one with BYPASSRLS. On SQLite there is none to bypass.
func (s *Store) BypassesRowSecurity(ctx context.Context) (bool, error) {
	if s.dialect != dialect.Postgres {
		return false, nil
	}
	var bypasses bool
	err := s.db.QueryRowContext(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").
		Scan(&bypasses)
	if err != nil {
		return false, fmt.Errorf("cannot read the database's role: %w", err)
	}
	return bypasses, nil
}
