package store

import (
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
)

// readers is how many connections read a SQLite file at once.
const readers = 8

// openSQLite opens one connection that writes and a pool that cannot: with one writer, no transaction
// ever meets another's lock.
func openSQLite(ctx context.Context, t target, c Config) (*Store, dialect.Driver, error) {
	s := &Store{dialect: dialect.SQLite}
	if c.Exclusive {
		unlock, err := tryLock(t.path + serverLock)
		if errors.Is(err, errLocked) {
			return nil, nil, fmt.Errorf("another server has %s open; stop it, or use PostgreSQL for several servers", t)
		}
		if err != nil {
			return nil, nil, err
		}
		s.close = append(s.close, unlock)
	}
	err := errors.Join(refuseHalfRestored(t.path), makePrivate(t.path))
	if err == nil && c.Exclusive {
		err = checkAfterUncleanEnd(ctx, t, c.Checking)
	}
	if err == nil && c.Exclusive {
		err = beginServing(t.path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	dsn := sqliteDSN(t.path) + "&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)"
	writer, err := sql.Open("sqlite", dsn+"&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite", dsn+"&_pragma=query_only(1)")
	if err != nil {
		return nil, nil, err
	}
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	s.db, s.reads = writer, reader
	s.close = append([]func() error{func() error {
		err := errors.Join(reader.Close(), writer.Close())
		if err == nil && c.Exclusive {
			err = endServing(t.path)
		}
		return err
	}}, s.close...)
	return s, split{entsql.OpenDB(dialect.SQLite, reader), entsql.OpenDB(dialect.SQLite, writer)}, nil
}

// busyFor is how long the first connection to a file waits for others that open it for the first time:
// setting the journal's mode does not wait by itself.
const busyFor = 5 * time.Second

// ping opens the first connection of a pool.
func ping(ctx context.Context, db *sql.DB) error {
	for deadline := time.Now().Add(busyFor); ; {
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

// escape writes a path so that it is none of the signs of SQLite's URIs.
func escape(path string) string { return strings.ReplaceAll(url.QueryEscape(path), "+", "%20") }

// split reads through one pool and runs transactions on the other.
type split struct{ reader, writer *entsql.Driver }

func (d split) Query(ctx context.Context, query string, args, v any) error {
	return d.reader.Query(ctx, query, args, v)
}

func (d split) Exec(context.Context, string, any, any) error {
	return errors.New("store: write outside a transaction")
}

func (d split) Tx(ctx context.Context) (dialect.Tx, error) { return d.writer.Tx(ctx) }

func (d split) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	return d.writer.BeginTx(ctx, o)
}

func (d split) Close() error    { return errors.Join(d.reader.Close(), d.writer.Close()) }
func (d split) Dialect() string { return dialect.SQLite }
