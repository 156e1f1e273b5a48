package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"slipway/ent/migrate"
)

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string
	Applied bool
}

// ErrNewer is returned for a database that a newer version of the program has migrated.
var ErrNewer = errors.New("the database was migrated by a newer version of slipway")

// Migrate applies the pending migrations and gives how many there were. Any number of processes may
// call it at once.
func Migrate(ctx context.Context, url string) (int, error) {
	m, err := openMigrator(url)
	if err != nil {
		return 0, err
	}
	applied, err := m.up(ctx)
	return applied, errors.Join(err, m.db.Close())
}

// Migrations lists every migration and whether it was applied.
func Migrations(ctx context.Context, url string) ([]Migration, error) {
	m, err := openMigrator(url)
	if err != nil {
		return nil, err
	}
	list, err := m.list(ctx)
	return list, errors.Join(err, m.db.Close())
}

// Pending says how many migrations are still to be applied, or ErrNewer.
func Pending(ctx context.Context, url string) (int, error) {
	list, err := Migrations(ctx, url)
	pending := 0
	for _, m := range list {
		if !m.Applied {
			pending++
		}
	}
	return pending, err
}

type migrator struct {
	target target
	db     *sql.DB
	goose  *goose.Provider
}

// openMigrator opens a connection of its own: without timeouts, and on SQLite without foreign keys,
// because the rebuild of a table would cascade into the rows that refer to it.
func openMigrator(url string) (*migrator, error) {
	t, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	m := &migrator{target: t}
	dialect, dir := goose.DialectPostgres, "postgres"
	var options []goose.ProviderOption
	if t.isSQLite() {
		if err := errors.Join(refuseHalfRestored(t.path), makePrivate(t.path)); err != nil {
			return nil, err
		}
		dialect, dir = goose.DialectSQLite3, "sqlite"
		m.db, err = sql.Open("sqlite", sqliteDSN(t.path)+"&_pragma=foreign_keys(0)")
	} else {
		m.db, err = openMigrationDB(t.dsn)
		locker, lockErr := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		options = append(options, goose.WithSessionLocker(locker))
		err = errors.Join(err, lockErr)
	}
	if err != nil {
		return nil, err
	}
	if t.isSQLite() {
		m.db.SetMaxOpenConns(1)
	}
	files, err := fs.Sub(migrate.Files, dir)
	if err != nil {
		return nil, errors.Join(err, m.db.Close())
	}
	m.goose, err = goose.NewProvider(dialect, m.db, files, append(options, goose.WithDisableGlobalRegistry(true))...)
	if err != nil {
		return nil, errors.Join(err, m.db.Close())
	}
	return m, nil
}

func openMigrationDB(dsn string) (*sql.DB, error) {
	config, err := pq.NewConfig(dsn)
	if err != nil {
		return nil, err
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (m *migrator) up(ctx context.Context) (int, error) {
	if err := ping(ctx, m.db); err != nil {
		return 0, fmt.Errorf("cannot open the database %s: %w", m.target, err)
	}
	if m.target.isSQLite() {
		unlock, err := waitLock(ctx, m.target.path+migrationLock)
		if err != nil {
			return 0, err
		}
		defer unlock() //nolint:errcheck // the kernel gives the lock up with the file in any case
	}
	current, latest, err := m.goose.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("cannot read the version of the database %s: %w", m.target, err)
	}
	if current > latest {
		return 0, fmt.Errorf("%w: it has migration %d, this program knows %d", ErrNewer, current, latest)
	}
	if current == latest {
		return 0, nil
	}
	applied, err := m.goose.Up(ctx)
	if err != nil {
		return 0, fmt.Errorf("cannot migrate the database %s: %w", m.target, err)
	}
	return len(applied), m.checkForeignKeys(ctx)
}

// checkForeignKeys makes up for the foreign keys that were off during a migration.
func (m *migrator) checkForeignKeys(ctx context.Context) error {
	if !m.target.isSQLite() {
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

func (m *migrator) list(ctx context.Context) ([]Migration, error) {
	if err := ping(ctx, m.db); err != nil {
		return nil, fmt.Errorf("cannot open the database %s: %w", m.target, err)
	}
	status, err := m.goose.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of the database %s: %w", m.target, err)
	}
	list := make([]Migration, len(status))
	for i, s := range status {
		list[i] = Migration{Version: s.Source.Version, Name: s.Source.Path, Applied: s.State == goose.StateApplied}
	}
	current, latest, err := m.goose.GetVersions(ctx)
	if err == nil && current > latest {
		err = fmt.Errorf("%w: it has migration %d, this program knows %d", ErrNewer, current, latest)
	}
	return list, err
}
