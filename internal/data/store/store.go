// Package store opens either database, SQLite or PostgreSQL, and makes both behave alike. Everything that the
// services read and write goes through three things.
//
// Pools: Store.Client reads, on SQLite through connections that cannot write beside the one that can, on
// PostgreSQL through any. Every statement has a bound on its time, and a read that failed before its first row is
// run again while the database says that it may succeed.
//
// Transactions: Store.Tx is the only way to write. It runs its function again after a conflict, a lost connection
// or a failover. If the answer to COMMIT is lost it asks, by a Probe, whether the transaction was committed,
// so that nothing is written twice. INSERTs of a transaction wait for each other and are sent together; on SQLite,
// transactions that wait for one another are committed together.
//
// Tenancy: each table has a class (see Classes). Queries and writes of tables that belong to organizations are
// bound to the organization of the actor in the context; without an actor they fail. On PostgreSQL row-level
// security is a second lock.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"entgo.io/ent/dialect"

	"slipway/ent"
	"slipway/internal/data/store/dburl"
	"slipway/internal/data/store/sqlitefile"
)

// Isolation is how single reads are kept within their organization on PostgreSQL. Writes always run
// under row-level security.
type Isolation string

const (
	// Filter trusts the query filter for single reads: one round trip.
	Filter Isolation = "filter"
	// Strict runs every read in a transaction under row-level security as well.
	Strict Isolation = "strict"
)

// What a Config of zeros stands for.
const (
	DefaultIsolation = Filter
	DefaultMaxConns  = 16
)

// Config is which database to open, and how.
type Config struct {
	// URL is sqlite:PATH, postgres://… or lib/pq's key=value form.
	URL string
	// DirectURL is the same database without the pooler that URL goes through, for notifications; URL if it is empty.
	DirectURL string
	// Isolation is DefaultIsolation if it is empty.
	Isolation Isolation
	// MaxConns bounds the connections to PostgreSQL; DefaultMaxConns if it is 0.
	MaxConns int
	// Exclusive refuses to open a SQLite file that another server has open.
	Exclusive bool
	// Checking, if it is not nil, is called with the reason before an Exclusive SQLite file is checked, which
	// takes some seconds for each gigabyte.
	Checking func(why string)
	// Trace, if it is not nil, is called with each statement and its arguments, secrets among them,
	// before it runs. It is called by many goroutines at once.
	Trace func(query string, args []any)
	// TraceSystem is Trace for the statements over all organizations, which run beside the requests.
	TraceSystem func(query string, args []any)
	// PoisonUnread is for tests: fields of records whose columns were not read have values that show.
	PoisonUnread bool
	// Log gets a line when the storage under the database fails; slog.Default if it is nil.
	Log *slog.Logger

	// maxGroupMembers is for tests; maxGroupMembers if it is 0.
	maxGroupMembers int
}

// Store is an open database.
type Store struct {
	// Client reads. It refuses writes, which Tx is for.
	Client *ent.Client

	dialect string
	// db writes, and on PostgreSQL it is also what reads.
	db, reads *sql.DB
	// reader is what the Client reads by.
	reader  dialect.Driver
	close   []func() error
	storage *storage
	lookups *lookups
	// connector connects to PostgreSQL, and fitness has what it found. SQLite has no connector, and finds nothing.
	connector driver.Connector
	fitness   *fitness
	// strict reports whether single reads run under row-level security.
	strict bool
	// listenURL is the data source name of PostgreSQL that notifications come from, and closed is closed with the store.
	listenURL string
	closed    chan struct{}
	endOnce   sync.Once

	poisonUnread bool
	traceSystem  func(query string, args []any)
}

// Open opens the database of the configuration. It does not migrate; package migrate does.
func Open(ctx context.Context, c Config) (*Store, error) {
	t, err := dburl.Parse(c.URL)
	if err != nil {
		return nil, err
	}

	var s *Store
	var under dialect.Driver
	if t.IsSQLite() {
		if err := sqlitefile.Look(ctx, t.Path); err != nil {
			return nil, err
		}
		// Whoever opens the file and whoever replaces it do so one after the other. A server's own lock is
		// enough for that.
		if !c.Exclusive {
			unlock, err := sqlitefile.WaitLock(ctx, t.Path+sqlitefile.MigrationLock)
			if err != nil {
				return nil, fmt.Errorf("cannot open the database %s: %w", t, err)
			}
			defer unlock() //nolint:errcheck // the kernel gives the lock up with the file in any case
		}
		s, under, err = openSQLite(ctx, t, c)
	} else {
		s, under, err = openPostgres(t.DSN, c)
	}
	if err != nil {
		return nil, err
	}

	if c.DirectURL != "" {
		direct, err := dburl.Parse(c.DirectURL)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.listenURL = direct.DSN
	}
	if err := sqlitefile.Ping(ctx, s.db); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the database %s: %w", t, err), s.Close())
	}

	before := func(query string, args any) error {
		if c.Trace != nil {
			list, _ := args.([]any)
			c.Trace(query, list)
		}
		return checkArgs(args)
	}

	s.poisonUnread, s.traceSystem = c.PoisonUnread, c.TraceSystem
	s.storage = newStorage(cmp.Or(c.Log, slog.Default()), s.fitness)
	s.reader = retryDriver{insertDriver{checkDriver{under, before}}, s.storage}
	s.Client = ent.NewClient(ent.Driver(s.reader))
	s.Client.Intercept(tenancyFilter())
	s.Client.Use(requireTx, bindWrites)
	return s, nil
}

// PoisonsUnread reports whether fields of records whose columns were not read are to have values that show.
func (s *Store) PoisonsUnread() bool { return s.poisonUnread }

// Ping returns nil if the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.PingContext(ctx) }

// WritesFail reports whether the last write failed for its storage: a full disk, say, or a database that takes
// no writes.
func (s *Store) WritesFail() bool { return s.storage.writesFail.Load() }

// Close closes the pools and gives up the locks.
func (s *Store) Close() error {
	s.endOnce.Do(func() { close(s.closed) })
	var err error
	for _, f := range s.close {
		err = errors.Join(err, f())
	}
	return err
}
