package store

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"

	"slipway/ent"
)

// Lock has the transactions that ask for the same name wait for each other, each until it has ended. On SQLite, where
// one transaction writes at a time, they do so anyway. It comes before the first write of a transaction, so that nobody
// waits for it who keeps others waiting.
func (s *Store) Lock(ctx context.Context, tx *ent.Tx, name string) error {
	if s.dialect != dialect.Postgres {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", name); err != nil {
		return fmt.Errorf("store: lock %s: %w", name, err)
	}
	return nil
}
