package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"slipway/internal/fault"
	"slipway/internal/meter"
)

// watched is a driver that asks before each statement, in a transaction or not, whether it may run.
type watched struct {
	dialect.Driver
	before func(query string, args any) error
}

func (d watched) Query(ctx context.Context, query string, args, v any) error {
	if err := d.before(query, args); err != nil {
		return err
	}
	if err := d.Driver.Query(ctx, query, args, v); err != nil {
		return err
	}
	if rows, ok := v.(*entsql.Rows); ok {
		rows.ColumnScanner = metered{rows.ColumnScanner, ctx}
	}
	return nil
}

func (d watched) Exec(ctx context.Context, query string, args, v any) error {
	if err := d.before(query, args); err != nil {
		return err
	}
	return d.Driver.Exec(ctx, query, args, v)
}

func (d watched) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	tx, err := begin(ctx, d.Driver, o)
	if err != nil {
		return nil, err
	}
	return watchedTx{tx, d.before}, nil
}

func (d watched) Tx(ctx context.Context) (dialect.Tx, error) { return d.BeginTx(ctx, nil) }

type watchedTx struct {
	dialect.Tx
	before func(query string, args any) error
}

func (t watchedTx) Query(ctx context.Context, query string, args, v any) error {
	if err := t.before(query, args); err != nil {
		return err
	}
	return t.Tx.Query(ctx, query, args, v)
}

func (t watchedTx) Exec(ctx context.Context, query string, args, v any) error {
	if err := t.before(query, args); err != nil {
		return err
	}
	return t.Tx.Exec(ctx, query, args, v)
}

// QueryContext lets the program run statements of its own, as ent's transactions do.
func (t watchedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	q, ok := t.Tx.(entsql.ExecQuerier)
	if !ok {
		return nil, fmt.Errorf("store: %T takes no statements", t.Tx)
	}
	if err := t.before(query, args); err != nil {
		return nil, err
	}
	return q.QueryContext(ctx, query, args...)
}

// ExecContext lets the program run statements of its own, as ent's transactions do.
func (t watchedTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	q, ok := t.Tx.(entsql.ExecQuerier)
	if !ok {
		return nil, fmt.Errorf("store: %T takes no statements", t.Tx)
	}
	if err := t.before(query, args); err != nil {
		return nil, err
	}
	return q.ExecContext(ctx, query, args...)
}

// storable refuses texts that PostgreSQL cannot keep, on both databases alike.
func storable(args any) error {
	list, ok := args.([]any)
	if !ok {
		return nil
	}
	for _, arg := range list {
		if text, ok := arg.(string); ok && (strings.ContainsRune(text, 0) || !utf8.ValidString(text)) {
			return fault.New(fault.RequestInvalid, "A text of the request has a NUL character or is not UTF-8; it cannot be stored: %.60q.", text)
		}
	}
	return nil
}

// reading is a driver whose reads outside a transaction are run again while the database says that they may
// succeed, and not once the first row was handed out. They fail as publicError has it.
type reading struct {
	dialect.Driver
	storage *storage
}

func (d reading) Query(ctx context.Context, query string, args, v any) error {
	for tries := newAttempts(ctx); ; {
		err := d.Driver.Query(ctx, query, args, v)
		if err == nil {
			break
		}
		if !isRetryable(err) || !tries.next(ctx) {
			return d.storage.publicError(ctx, err)
		}
	}
	if rows, ok := v.(*entsql.Rows); ok {
		rows.ColumnScanner = readRows{rows.ColumnScanner, ctx, d.storage}
	}
	return nil
}

func (d reading) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	return begin(ctx, d.Driver, o)
}

// begin begins a transaction with options, which ent's interface of a driver leaves out.
func begin(ctx context.Context, d dialect.Driver, o *sql.TxOptions) (dialect.Tx, error) {
	b, ok := d.(interface {
		BeginTx(context.Context, *sql.TxOptions) (dialect.Tx, error)
	})
	if !ok {
		return nil, fmt.Errorf("store: %T begins no transactions", d)
	}
	return b.BeginTx(ctx, o)
}

// readRows are rows whose end is told as publicError has it.
type readRows struct {
	entsql.ColumnScanner
	ctx     context.Context // of the query
	storage *storage
}

func (r readRows) Err() error { return r.storage.publicError(r.ctx, r.ColumnScanner.Err()) }

// metered are rows that are read to answer a request: their bytes are counted as they come, so that a page of
// large records ends before it fills the memory. Those of transactions are not, for a write must not fail by
// what it reads.
type metered struct {
	entsql.ColumnScanner
	ctx context.Context // of the query
}

// Scan implements entsql.ColumnScanner.
func (m metered) Scan(columns ...any) error {
	if err := m.ColumnScanner.Scan(columns...); err != nil {
		return err
	}
	size := 0
	for _, column := range columns {
		size += bytesOf(column)
	}
	return meter.Answer(m.ctx, meter.Read, size)
}

// bytesOf is how many bytes a column has; numbers, times and what is short by its nature do not count.
func bytesOf(column any) int {
	switch c := column.(type) {
	case *sql.NullString:
		return len(c.String)
	case *[]byte:
		return len(*c)
	case interface{ JSON() json.RawMessage }:
		return len(c.JSON())
	default:
		return 0
	}
}
