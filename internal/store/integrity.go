package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"math"

	"github.com/pressly/goose/v3"

	"slipway/ent/migrate"
	"slipway/internal/store/sqlitefile"
)

// inspect checks that a file that nobody else knows, and that has no -wal, is a whole database of slipway, and
// returns its last migration. Its errors wrap sqlitefile.ErrCorrupt or sqlitefile.ErrForeign, or are of reading.
func inspect(ctx context.Context, path string) (migration int64, err error) {
	db, err := sql.Open("sqlite", "file:"+sqlitefile.Escape(path)+"?mode=ro&immutable=1")
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	if migration, err = lastMigration(ctx, db); err != nil {
		return 0, err
	}
	return migration, sqlitefile.QuickCheck(ctx, db)
}

// lastMigration returns the last migration of a SQLite database, or sqlitefile.ErrForeign where it has not even the
// first.
func lastMigration(ctx context.Context, db *sql.DB) (int64, error) {
	var there bool
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", goose.DefaultTablename).Scan(&there)
	if err != nil {
		return 0, sqlitefile.DamageError(err)
	}
	if !there {
		return 0, sqlitefile.ErrForeign
	}
	first, _, err := knownMigrations()
	if err != nil {
		return 0, err
	}
	var last sql.NullInt64
	query := "SELECT max(version_id) FROM " + goose.DefaultTablename + " HAVING count(*) FILTER (WHERE version_id = ?) > 0"
	switch err := db.QueryRowContext(ctx, query, first).Scan(&last); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, sqlitefile.ErrForeign
	case err != nil:
		return 0, sqlitefile.DamageError(err)
	}
	return last.Int64, nil
}

// knownMigrations returns the first and the last of SQLite's migrations that this program has.
func knownMigrations() (first, last int64, err error) {
	files, err := fs.Glob(migrate.Files, "sqlite/*.sql")
	first = math.MaxInt64
	for _, name := range files {
		version, bad := goose.NumericComponent(name)
		if bad != nil {
			return 0, 0, bad
		}
		first, last = min(first, version), max(last, version)
	}
	return first, last, err
}
