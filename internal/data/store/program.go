package store

import (
	"context"
	"errors"
	"fmt"

	"slipway/ent"
	entmigrate "slipway/ent/migrate"
)

// ReleaseControl is the migration that a program must have to judge rules and to roll back failures by itself. A
// program without it would pass by both.
const ReleaseControl = 20261126213000

// ErrProgramTooOld is returned if the database needs a newer version of the program than this one.
var ErrProgramTooOld = errors.New("this version of slipway is too old for the database")

// RequireProgram writes, in a transaction, that programs must have a migration from now on: others no longer start, and
// those that run are no longer ready. It writes nothing if that is so already.
func RequireProgram(ctx context.Context, tx *ent.Tx, migration int64) error {
	required := false
	err := InTx(tx)(ctx,
		`SELECT 1 FROM "migration_compatibility" WHERE "version_id" = $1 AND "compatible_with" >= $1`, []any{migration},
		func(Rows) error { required = true; return nil })
	if err != nil || required {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO "migration_compatibility" ("version_id", "compatible_with") VALUES ($1, $1)
		ON CONFLICT ("version_id") DO UPDATE SET "compatible_with" = excluded."compatible_with"`, migration)
	return err
}

// CheckProgram returns ErrProgramTooOld if the program may not serve the database any longer, because a newer one has
// migrated it, or something was made that this one does not know.
func (s *Store) CheckProgram(ctx context.Context) error {
	folder := "sqlite"
	if s.Postgres() {
		folder = "postgres"
	}
	newest, err := entmigrate.Newest(folder)
	if err != nil {
		return err
	}

	var needed int64
	err = s.reads.QueryRowContext(ctx, `SELECT COALESCE(MAX("compatible_with"), 0) FROM "migration_compatibility"`).
		Scan(&needed)
	if err != nil {
		return err
	}
	if needed > newest {
		return fmt.Errorf("%w: it needs one that has migration %d, and the newest of this one is %d; "+
			"upgrade this server", ErrProgramTooOld, needed, newest)
	}
	return nil
}
