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

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/tracing"
)

// ent's client talks to a stack of drivers: retryDriver, which runs reads again, on insertDriver, which joins INSERTs
// (inserts.go), on checkDriver, which looks at each statement, on the database's own (tenantDriver of PostgreSQL,
// splitDriver of SQLite).

// retryDriver runs a read outside a transaction again while the database says that it may succeed; once its
// first row was handed out it does not. Errors are those of publicError.
type retryDriver struct {
	dialect.Driver
	storage *storage
}

func (d retryDriver) Query(ctx context.Context, query string, args, v any) error {
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
		rows.ColumnScanner = publicRows{rows.ColumnScanner, ctx, d.storage}
	}
	return nil
}

func (d retryDriver) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	return beginTx(ctx, d.Driver, o)
}

// publicRows are rows whose error is that of publicError.
type publicRows struct {
	entsql.ColumnScanner
	ctx     context.Context // of the query
	storage *storage
}

func (r publicRows) Err() error { return r.storage.publicError(r.ctx, r.ColumnScanner.Err()) }

// checkDriver calls before with each statement, in a transaction or not, and runs it if that returns no
// error.
type checkDriver struct {
	dialect.Driver
	before func(query string, args any) error
}

func (d checkDriver) Query(ctx context.Context, query string, args, v any) error {
	if err := d.before(query, args); err != nil {
		return err
	}
	_, span := statementSpan(ctx, query)
	err := d.Driver.Query(ctx, query, args, v)
	span.End(err)
	if err != nil {
		return err
	}
	if rows, ok := v.(*entsql.Rows); ok {
		rows.ColumnScanner = meteredRows{rows.ColumnScanner, ctx}
	}
	return nil
}

func (d checkDriver) Exec(ctx context.Context, query string, args, v any) error {
	if err := d.before(query, args); err != nil {
		return err
	}
	return d.Driver.Exec(ctx, query, args, v)
}

func (d checkDriver) BeginTx(ctx context.Context, o *sql.TxOptions) (dialect.Tx, error) {
	tx, err := beginTx(ctx, d.Driver, o)
	if err != nil {
		return nil, err
	}
	return checkTx{tx, d.before, o != nil && o.ReadOnly}, nil
}

func (d checkDriver) Tx(ctx context.Context) (dialect.Tx, error) { return d.BeginTx(ctx, nil) }

// checkTx is a transaction of checkDriver.
type checkTx struct {
	execTx
	before func(query string, args any) error
	// meters is whether its rows count as work of the request: it only reads.
	meters bool
}

func (t checkTx) Query(ctx context.Context, query string, args, v any) error {
	if err := t.before(query, args); err != nil {
		return err
	}
	_, span := statementSpan(ctx, query)
	err := t.execTx.Query(ctx, query, args, v)
	span.End(err)
	if rows, ok := v.(*entsql.Rows); ok && err == nil && t.meters {
		rows.ColumnScanner = meteredRows{rows.ColumnScanner, ctx}
	}
	return err
}

func (t checkTx) Exec(ctx context.Context, query string, args, v any) error {
	if err := t.before(query, args); err != nil {
		return err
	}
	_, span := statementSpan(ctx, query)
	err := t.execTx.Exec(ctx, query, args, v)
	span.End(err)
	return err
}

// QueryContext runs a statement that ent does not write, as ent's own transactions do.
func (t checkTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := t.before(query, args); err != nil {
		return nil, err
	}
	_, span := statementSpan(ctx, query)
	rows, err := t.execTx.QueryContext(ctx, query, args...)
	span.End(err)
	return rows, err
}

// ExecContext runs a statement that ent does not write, as ent's own transactions do.
func (t checkTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.before(query, args); err != nil {
		return nil, err
	}
	_, span := statementSpan(ctx, query)
	result, err := t.execTx.ExecContext(ctx, query, args...)
	span.End(err)
	return result, err
}

// maxStatementText is how many bytes of a statement its span has.
const maxStatementText = 2 << 10

// statementSpan begins the span of a statement, which lasts until its answer comes. The span has the text, in which
// arguments are numbers or question marks, and never the arguments.
func statementSpan(ctx context.Context, query string) (context.Context, tracing.Span) {
	verb, _, _ := strings.Cut(query, " ")
	ctx, span := tracing.Start(ctx, verb)
	if span.IsRecorded() {
		span.SetText("db.query.text", query[:min(len(query), maxStatementText)])
	}
	return ctx, span
}

// execTx is a transaction of ent that also takes statements which ent does not write.
type execTx interface {
	dialect.Tx
	entsql.ExecQuerier
}

// beginTx begins a transaction with options, which the interface dialect.Driver leaves out.
func beginTx(ctx context.Context, d dialect.Driver, o *sql.TxOptions) (execTx, error) {
	b, ok := d.(interface {
		BeginTx(context.Context, *sql.TxOptions) (dialect.Tx, error)
	})
	if !ok {
		return nil, fmt.Errorf("store: %T begins no transactions", d)
	}
	tx, err := b.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	exec, ok := tx.(execTx)
	if !ok {
		return nil, rollBack(tx, fmt.Errorf("store: %T takes no statements", tx))
	}
	return exec, nil
}

// checkArgs returns RequestInvalid for a text that PostgreSQL cannot store, on both databases alike.
func checkArgs(args any) error {
	list, ok := args.([]any)
	if !ok {
		return nil
	}
	for _, arg := range list {
		if text, ok := arg.(string); ok && (strings.ContainsRune(text, 0) || !utf8.ValidString(text)) {
			return fault.New(fault.RequestInvalid,
				"A text of the request has a NUL character or is not UTF-8; it cannot be stored: %.60q.", text)
		}
	}
	return nil
}

// meteredRows counts the bytes of the rows that are read to answer a request as they come, and the JSON among them that
// is decoded at once. So a page of large records ends before it fills the memory. It does not count the reads of
// transactions that write, because a write must not fail by what it reads.
type meteredRows struct {
	entsql.ColumnScanner
	ctx context.Context // of the query
}

// Scan implements entsql.ColumnScanner.
func (m meteredRows) Scan(columns ...any) error {
	if err := m.ColumnScanner.Scan(columns...); err != nil {
		return err
	}
	size := 0
	for _, column := range columns {
		size += bytesOf(column)
		if c, ok := column.(interface{ Decoded() []byte }); ok && c.Decoded() != nil {
			if err := meter.Decode(m.ctx, meter.Stored, c.Decoded()); err != nil {
				return err
			}
		}
	}
	return meter.Answer(m.ctx, meter.Read, size)
}

// bytesOf returns how many bytes a column has; numbers, times and what is short by its nature do not count.
func bytesOf(column any) int {
	switch c := column.(type) {
	case *sql.NullString:
		return len(c.String)
	case *string:
		return len(*c)
	case *[]byte:
		return len(*c)
	case interface{ JSON() json.RawMessage }:
		return len(c.JSON())
	case interface{ Decoded() []byte }:
		return len(c.Decoded())
	case interface{ Size() int }:
		return c.Size()
	default:
		return 0
	}
}
