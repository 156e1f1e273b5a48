package store

import (
	"context"
	"database/sql"
	"fmt"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
)

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
