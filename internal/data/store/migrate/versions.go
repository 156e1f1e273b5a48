package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// versionTable is goose's table of the migrations that were applied. Beside it, in the same transaction, it
// writes which programs may serve a database that has them, for programs that do not have them.
type versionTable struct {
	database.Store
	// compatible has, for each migration of the program, the oldest whose program may still serve.
	compatible map[int64]int64
	// tableExists is a query for whether the table beside it is there.
	tableExists string
}

// A database that was last migrated before there was this table does not have it.
var compatibilityExists = map[goose.Dialect]string{
	goose.DialectPostgres: `SELECT to_regclass('migration_compatibility') IS NOT NULL`,
	goose.DialectSQLite3: `SELECT count(*) > 0 FROM sqlite_master ` +
		`WHERE type = 'table' AND name = 'migration_compatibility'`,
}

const (
	createCompatibility = `CREATE TABLE IF NOT EXISTS migration_compatibility ` +
		`(version_id bigint PRIMARY KEY, compatible_with bigint NOT NULL)`
	insertCompatibility = `INSERT INTO migration_compatibility (version_id, compatible_with) VALUES ($1, $2)
		ON CONFLICT (version_id) DO UPDATE SET compatible_with = excluded.compatible_with`
	readCompatibility = `SELECT version_id, compatible_with FROM migration_compatibility`
)

// Insert records a migration as applied. It is called under the lock of migrations.
func (t *versionTable) Insert(ctx context.Context, db database.DBTxConn, r database.InsertRequest) error {
	if with, ok := t.compatible[r.Version]; ok {
		if _, err := db.ExecContext(ctx, createCompatibility); err != nil {
			return fmt.Errorf("create the table of compatible migrations: %w", err)
		}
		if _, err := db.ExecContext(ctx, insertCompatibility, r.Version, with); err != nil {
			return fmt.Errorf("record what migration %d is compatible with: %w", r.Version, err)
		}
	}
	return t.Store.Insert(ctx, db, r)
}

// TableExists reports whether goose's table is there, where goose can tell.
func (t *versionTable) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	if s, ok := t.Store.(database.StoreExtender); ok {
		return s.TableExists(ctx, db)
	}
	return false, errors.ErrUnsupported
}

// addApplied marks those of a program's migrations that were applied, and adds those that only other programs have. The
// list is sorted, the oldest first.
func (t *versionTable) addApplied(ctx context.Context, db *sql.DB, list []Migration) ([]Migration, error) {
	rows, err := t.ListMigrations(ctx, db)
	if err != nil {
		return nil, err
	}
	with, err := t.compatibility(ctx, db)
	if err != nil {
		return nil, err
	}

	for _, row := range rows {
		at, known := slices.BinarySearchFunc(list, row.Version, func(m Migration, v int64) int {
			return cmp.Compare(m.Version, v)
		})
		switch {
		case known:
			list[at].Applied = true
		case row.Version > 0: // that is goose's own
			list = slices.Insert(list, at, Migration{
				Version: row.Version, Applied: true, CompatibleWith: cmp.Or(with[row.Version], row.Version),
			})
		}
	}

	later := false
	for i := range slices.Backward(list) {
		list[i].OutOfOrder = later && !list[i].Applied
		later = later || list[i].Applied
	}

	return list, nil
}

// compatibility returns what each migration that was applied is compatible with.
func (t *versionTable) compatibility(ctx context.Context, db *sql.DB) (map[int64]int64, error) {
	var there bool
	if err := db.QueryRowContext(ctx, t.tableExists).Scan(&there); err != nil || !there {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, readCompatibility)
	if err != nil {
		return nil, err
	}
	with := map[int64]int64{}
	for rows.Next() {
		var migration, oldest int64
		if err := rows.Scan(&migration, &oldest); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		with[migration] = oldest
	}
	return with, errors.Join(rows.Err(), rows.Close())
}
