package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"slipway/internal/store/dburl"
)

// maxReaders is how many connections read a SQLite file at once.
const maxReaders = 8

// openSQLite opens one connection that writes, which transactions share by turns (see groupConnector), and a pool
// that cannot: with one writer, no transaction ever meets another's lock.
func openSQLite(ctx context.Context, t dburl.Target, c Config) (*Store, dialect.Driver, error) {
	s := &Store{dialect: dialect.SQLite, closed: make(chan struct{})}
	if c.Exclusive {
		unlock, err := tryLock(t.Path + serverLock)
		if errors.Is(err, errLocked) {
			return nil, nil, fmt.Errorf("another server has %s open; stop it, or use PostgreSQL for several servers", t)
		}
		if err != nil {
			return nil, nil, err
		}
		s.close = append(s.close, unlock)
	}
	err := errors.Join(checkNotHalfRestored(t.Path), makePrivate(t.Path))
	if err == nil && c.Exclusive {
		err = checkAfterUncleanEnd(ctx, t, c.Checking)
	}
	if err == nil && c.Exclusive {
		err = markServing(t.Path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	dsn := sqliteDSN(t.Path) + "&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)"
	groups, err := newGroupConnector(dsn, cmp.Or(c.maxGroupMembers, maxGroupMembers))
	if err != nil {
		return nil, nil, err
	}
	prepared, err := newPreparedConnector(dsn + "&_pragma=query_only(1)")
	if err != nil {
		return nil, nil, err
	}
	writer, reader := sql.OpenDB(groups), sql.OpenDB(prepared)
	writer.SetMaxIdleConns(maxGroupMembers)
	reader.SetMaxOpenConns(maxReaders)
	reader.SetMaxIdleConns(maxReaders)
	s.db, s.reads = writer, reader
	s.close = append([]func() error{func() error {
		err := errors.Join(reader.Close(), writer.Close())
		if err == nil && c.Exclusive {
			err = unmarkServing(t.Path)
		}
		return err
	}}, s.close...)
	return s, splitDriver{entsql.OpenDB(dialect.SQLite, reader), entsql.OpenDB(dialect.SQLite, writer)}, nil
}

// openTimeout is how long the first connection to a file waits for others that open it for the first time:
// setting the journal's mode does not wait by itself.
const openTimeout = 5 * time.Second

// ping opens the first connection of a pool.
func ping(ctx context.Context, db *sql.DB) error {
	for deadline := time.Now().Add(openTimeout); ; {
		err := db.PingContext(ctx)
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(firstWait):
		}
	}
}

// sqliteDSN returns the name under which SQLite opens a file. A file that it makes has the mode of the
// migration's lock, and those beside it have the mode of the file.
func sqliteDSN(path string) string {
	return "file:" + escape(path) + "?modeof=" + escape(path+migrationLock) +
		"&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_time_format=sqlite"
}

// escape returns a path without the characters that mean something in SQLite's URIs.
func escape(path string) string { return strings.ReplaceAll(url.QueryEscape(path), "+", "%20") }

// splitDriver reads through one pool and runs transactions on the other.
type splitDriver struct{ reader, writer *entsql.Driver }

func (d splitDriver) Query(ctx context.Context, query string, args, v any) error {
	return d.reader.Query(ctx, query, args, v)
}

func (d splitDriver) Exec(context.Context, string, any, any) error {
	return errNoTransaction
}

func (d splitDriver) Tx(ctx context.Context) (dialect.Tx, error) { return d.writer.Tx(ctx) }

func (d splitDriver) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	return d.writer.BeginTx(ctx, o)
}

func (d splitDriver) Close() error    { return errors.Join(d.reader.Close(), d.writer.Close()) }
func (d splitDriver) Dialect() string { return dialect.SQLite }
