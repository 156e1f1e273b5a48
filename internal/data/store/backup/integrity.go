package backup

import (
	"context"
	"database/sql"
	"errors"

	"slipway/internal/data/store/migrate"
	"slipway/internal/data/store/sqlitefile"
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
	if migration, err = migrate.LastOnSQLite(ctx, db); err != nil {
		return 0, err
	}
	return migration, sqlitefile.QuickCheck(ctx, db)
}
