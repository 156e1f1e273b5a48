package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"slipway/internal/data/store/dburl"
	"slipway/internal/data/store/sqlitefile"
)

// maxReaders is how many connections read a SQLite file at once.
const maxReaders = 8

// openSQLite opens one connection that writes, which transactions share by turns (see groupConnector), and a pool
// that cannot: with one writer, no transaction ever meets another's lock.
func openSQLite(ctx context.Context, t dburl.Target, c Config) (*Store, dialect.Driver, error) {
	s := &Store{dialect: dialect.SQLite, lookups: &lookups{}, fitness: &fitness{}, closed: make(chan struct{})}
	if c.Exclusive {
		unlock, err := sqlitefile.TryLock(t.Path + sqlitefile.ServerLock)
		if errors.Is(err, sqlitefile.ErrLocked) {
			return nil, nil, fmt.Errorf("another server has %s open; stop it, or use PostgreSQL for several servers", t)
		}
		if err != nil {
			return nil, nil, err
		}
		s.close = append(s.close, unlock)
	}

	err := sqlitefile.Prepare(ctx, t.Path)
	if err == nil && c.Exclusive {
		err = sqlitefile.CheckAfterUncleanEnd(ctx, t.Path, c.Checking)
	}
	if err == nil && c.Exclusive {
		err = sqlitefile.MarkServing(t.Path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}

	dsn := sqlitefile.DSN(t.Path) + "&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)"
	groups, err := newGroupConnector(dsn, s.lookups, cmp.Or(c.maxGroupMembers, maxGroupMembers))
	if err != nil {
		return nil, nil, err
	}
	prepared, err := newPreparedConnector(dsn+"&_pragma=query_only(1)", s.lookups)
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
			err = sqlitefile.UnmarkServing(t.Path)
		}
		return err
	}}, s.close...)
	return s, splitDriver{entsql.OpenDB(dialect.SQLite, reader), entsql.OpenDB(dialect.SQLite, writer)}, nil
}

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
	if o != nil && o.ReadOnly {
		return d.reader.BeginTx(ctx, nil)
	}
	return d.writer.BeginTx(ctx, o)
}

func (d splitDriver) Close() error    { return errors.Join(d.reader.Close(), d.writer.Close()) }
func (d splitDriver) Dialect() string { return dialect.SQLite }
