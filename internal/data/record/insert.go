package record

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
)

// Row is an entity that is to be written, whole. ent generates its methods from the columns of its table.
type Row interface {
	// InsertStatement returns the INSERT of the table, with every column but those that the database fills in and those
	// that are set later.
	InsertStatement() string
	// InsertArguments returns the arguments of it: what the entity has, and null for what it has not.
	InsertArguments() []any
	// SetTooEarly returns a column that the entity has and the INSERT has not, "" for none.
	SetTooEarly() string
	// Owner returns the organization that the entity is of, "" for none.
	Owner() string
}

// Insert writes a new row of the actor's organization, as the entity is: no default of ent's is applied. It takes fewer
// allocations than a builder of ent's, and is for the rows that a busy server writes.
func Insert(ctx context.Context, tx *ent.Tx, r Row) error {
	if owner, own := r.Owner(), store.Scope(actor.From(ctx)); owner != own {
		return fmt.Errorf("record: a new %T is of the organization %q, not of %q", r, owner, own)
	}
	if column := r.SetTooEarly(); column != "" {
		return fmt.Errorf("record: a new %T has %s, which its schema says is set later", r, column)
	}
	_, err := tx.ExecContext(ctx, r.InsertStatement(), r.InsertArguments()...)
	return err
}
