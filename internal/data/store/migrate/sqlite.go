package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/pressly/goose/v3"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store/sqlitefile"
)

func (m *migrator) openSQLite(ctx context.Context) (err error) {
	if err := sqlitefile.Prepare(ctx, m.target.Path); err != nil {
		return err
	}
	if m.db, err = sql.Open("sqlite", sqlitefile.DSN(m.target.Path)+"&_pragma=foreign_keys(0)"); err != nil {
		return err
	}
	m.db.SetMaxOpenConns(1)
	return m.read("sqlite", goose.DialectSQLite3)
}

// checkForeignKeys checks the foreign keys of SQLite, which are off during a migration.
func (m *migrator) checkForeignKeys(ctx context.Context) error {
	if !m.target.IsSQLite() {
		return nil
	}
	rows, err := m.db.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	broken := rows.Next()
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if broken {
		return fmt.Errorf("the migration of %s left rows without what they refer to; restore the backup", m.target)
	}
	return nil
}

// LastOnSQLite returns the last migration of a SQLite database, or sqlitefile.ErrForeign if it has not even the
// first.
func LastOnSQLite(ctx context.Context, db *sql.DB) (int64, error) {
	var there bool
	err := db.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", goose.DefaultTablename).
		Scan(&there)
	if err != nil {
		return 0, sqlitefile.DamageError(err)
	}
	if !there {
		return 0, sqlitefile.ErrForeign
	}

	first, _, err := KnownOnSQLite()
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

// KnownOnSQLite returns the first and the last of SQLite's migrations that this program has.
func KnownOnSQLite() (first, last int64, err error) {
	files, err := fs.Glob(entmigrate.Files, "sqlite/*.sql")
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
