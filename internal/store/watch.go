package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"slipway/internal/fault"
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
