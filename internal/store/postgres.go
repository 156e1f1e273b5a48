package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

const (
	// statementTimeout ends a statement on the server; wireTimeout, above it, ends the wait for a server
	// that does not answer any more.
	statementTimeout = time.Second
	wireTimeout      = 1500 * time.Millisecond
	// idleInTransaction ends a transaction whose client has gone.
	idleInTransaction = 5 * time.Second
	dialTimeout       = 2 * time.Second
	// randomPageCost is that of a database in memory or on a solid-state disk. PostgreSQL's own, four times
	// as much for a disk that turns, has it fetch and sort a whole list rather than follow an index as far as
	// the page goes. What the URL sets in its options takes precedence.
	randomPageCost = 1
)

func openPostgres(dsn string, c Config) (*Store, dialect.Driver, error) {
	config, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, nil, err
	}
	isolation := cmp.Or(c.Isolation, DefaultIsolation)
	config.Options = fmt.Sprintf("-c random_page_cost=%d %s -c statement_timeout=%d -c idle_in_transaction_session_timeout=%d -c app.isolation=%s",
		randomPageCost, config.Options, statementTimeout.Milliseconds(), idleInTransaction.Milliseconds(), isolation)
	// One round trip a statement instead of two.
	config.BinaryParameters = true
	servers, err := newHosts(config, deadlineDialer{wireTimeout})
	if err != nil {
		return nil, nil, err
	}
	db := sql.OpenDB(servers)
	conns := cmp.Or(c.MaxConns, DefaultMaxConns)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	s := &Store{dialect: dialect.Postgres, db: db, reads: db, close: []func() error{db.Close}}
	return s, tenantDriver{entsql.OpenDB(dialect.Postgres, db), isolation == Strict}, nil
}

// tenantDriver sets the organization for row-level security at the begin of each transaction.
type tenantDriver struct {
	*entsql.Driver
	strict bool
}

const setTenant = "SELECT set_config('app.org_id', $1, true), set_config('app.isolation', 'strict', true), clock_timestamp()"

// errStandby is returned where a transaction that writes is begun on a server that recovers or follows another.
// PostgreSQL's own error says no more than that this is not supported.
var errStandby = errors.New("the server is a standby, which takes no writes")

// BeginTx begins a transaction of the actor's scope.
func (d tenantDriver) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := d.Driver.BeginTx(ctx, o)
	if pq.As(err, pqerror.FeatureNotSupported) != nil {
		return nil, errStandby
	}
	if err != nil {
		return nil, err
	}
	var rows entsql.Rows
	if err := tx.Query(ctx, setTenant, []any{scope}, &rows); err != nil {
		return nil, rollBack(tx, err)
	}
	at, err := readBeginTime(rows)
	if err != nil {
		return nil, rollBack(tx, err)
	}
	recordBeginTime(ctx, at)
	return tx, nil
}

// readBeginTime reads the answer to setTenant and returns the time by the database's clock.
func readBeginTime(rows entsql.Rows) (at time.Time, err error) {
	var scope, isolation string
	if rows.Next() {
		err = rows.Scan(&scope, &isolation, &at)
	}
	return at, errors.Join(err, rows.Err(), rows.Close())
}

// Tx begins a transaction of the actor's scope.
func (d tenantDriver) Tx(ctx context.Context) (dialect.Tx, error) { return d.BeginTx(ctx, nil) }

// Query reads: in strict isolation in a transaction of its own, which ends with the rows.
func (d tenantDriver) Query(ctx context.Context, query string, args, v any) error {
	if !d.strict {
		return d.Driver.Query(ctx, query, args, v)
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
	err := s.db.QueryRowContext(ctx, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&bypasses)
	if err != nil {
		return false, fmt.Errorf("cannot read the database's role: %w", err)
	}
	return bypasses, nil
}
