// Package store opens either database and holds what every query and every write goes through: the
// pools, transactions with retry, the tenancy filter and the migrations.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"entgo.io/ent/dialect"

	"slipway/ent"
)

// Isolation says how single reads are kept within their organization on PostgreSQL. Writes always run
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

// Config says which database to open, and how.
type Config struct {
	// URL is sqlite:PATH, postgres://… or lib/pq's key=value form.
	URL string
	// Isolation is DefaultIsolation where it is empty.
	Isolation Isolation
	// MaxConns bounds the connections to PostgreSQL; DefaultMaxConns where it is 0.
	MaxConns int
	// Exclusive refuses to open a SQLite file that another server has open.
	Exclusive bool
	// Checking, where it is not nil, is called before an Exclusive SQLite file is checked, which takes some
	// seconds for each gigabyte, with the reason to do so.
	Checking func(why string)
	// Trace, where it is not nil, is called with each statement and its arguments, secrets among them,
	// before it runs. It is called by many goroutines at once.
	Trace func(query string, args []any)
	// Log is told when the storage under the database fails; slog.Default where it is nil.
	Log *slog.Logger
}

// Store is an open database.
type Store struct {
	// Client reads. It refuses writes, which Tx is for.
	Client *ent.Client

	dialect string
	// db writes, and on PostgreSQL it is also what reads.
	db, reads *sql.DB
	close     []func() error
	storage   *storage
}

// Open opens the database of the configuration. It does not migrate; see Migrate.
func Open(ctx context.Context, c Config) (*Store, error) {
	t, err := parseURL(c.URL)
	if err != nil {
		return nil, err
	}
	var s *Store
	var driver dialect.Driver
	if t.isSQLite() {
		// Whoever opens the file and whoever replaces it do so one after the other. A server's own lock is
		// enough for that.
		if !c.Exclusive {
			unlock, err := waitLock(ctx, t.path+migrationLock)
			if err != nil {
				return nil, fmt.Errorf("cannot open the database %s: %w", t, err)
			}
			defer unlock() //nolint:errcheck // the kernel gives the lock up with the file in any case
		}
		s, driver, err = openSQLite(ctx, t, c)
	} else {
		s, driver, err = openPostgres(t.dsn, c)
	}
	if err != nil {
		return nil, err
	}
	if err := ping(ctx, s.db); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the database %s: %w", t, err), s.Close())
	}
	before := func(query string, args any) error {
		if c.Trace != nil {
			list, _ := args.([]any)
			c.Trace(query, list)
		}
		return storable(args)
	}
	s.storage = newStorage(cmp.Or(c.Log, slog.Default()))
	s.Client = ent.NewClient(ent.Driver(reading{watched{driver, before}, s.storage}))
	s.Client.Intercept(tenancyFilter())
	s.Client.Use(inTransaction, owned)
	return s, nil
}

// Ping asks whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.PingContext(ctx) }

// WritesFail reports whether the last write failed for its storage: a full disk, say, or a database that takes
// no writes.
func (s *Store) WritesFail() bool { return s.storage.writesFail.Load() }

// Close closes the pools and gives up the locks.
func (s *Store) Close() error {
	var err error
	for _, f := range s.close {
		err = errors.Join(err, f())
	}
	return err
}
