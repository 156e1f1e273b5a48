// Package migrate brings the schema of a database up to date. It applies the files of ent/migrate, which are written so
// that servers go on meanwhile, and finds out whether a program may serve a database that a newer one has migrated.
package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/data/store/dburl"
	"slipway/internal/data/store/pgconn"
	"slipway/internal/data/store/sqlitefile"
)

// Up applies the pending migrations and returns how many there were. Any number of processes may
// call it at once. It applies none to a database that a newer version of the program has migrated, and
// returns ErrNewer if this version cannot serve that, and ErrOutOfOrder if it has a migration without one before it.
func Up(ctx context.Context, url string, options ...Option) (int, error) {
	m, err := openMigrator(ctx, url, options)
	if err != nil {
		return 0, err
	}
	applied, err := m.up(ctx)
	return applied, errors.Join(err, m.db.Close())
}

// List returns every migration that the program knows or the database has, the oldest first.
func List(ctx context.Context, url string, options ...Option) ([]Migration, error) {
	m, err := openMigrator(ctx, url, options)
	if err != nil {
		return nil, err
	}
	list, err := m.list(ctx)
	return list, errors.Join(err, m.db.Close())
}

// Pending returns how many migrations are still to be applied, or ErrNewer and ErrOutOfOrder as Up does.
func Pending(ctx context.Context, url string, options ...Option) (int, error) {
	m, err := openMigrator(ctx, url, options)
	if err != nil {
		return 0, err
	}
	list, err := m.listServable(ctx)
	return pending(list), errors.Join(err, m.db.Close())
}

// Migration is one step of the schema.
type Migration struct {
	Version int64
	// Name is that of its file. It is empty for a migration that only a newer version of the program has.
	Name    string
	Applied bool
	// OutOfOrder reports whether it was not applied before a later one was. Then no program applies it any more.
	OutOfOrder bool
	// CompatibleWith is the version of the oldest migration whose program may serve a database that has
	// this one: the migration's own if nothing else is said.
	CompatibleWith int64
}

// Serves reports whether a program may serve a database with this migration, where newest is the newest
// migration that the program has. One that the program does not know, though it has newer ones, has to say so.
func (m Migration) Serves(newest int64) bool {
	return newest >= m.CompatibleWith && (m.Name != "" || m.CompatibleWith < m.Version)
}

// ErrNewer is returned for a database that a newer version of the program has migrated, so that this one
// may not serve it.
var ErrNewer = errors.New("the database was migrated by a newer version of slipway")

// ErrOutOfOrder is returned for a database that has a migration without one before it that the program has.
var ErrOutOfOrder = errors.New("the database has a later migration, and not one before it")

// Option changes how a database is migrated.
type Option func(*migrator)

// LogTo logs the locks that a migration has to wait for, and that a newer version of the program has migrated
// the database.
func LogTo(log *slog.Logger) Option { return func(m *migrator) { m.log = log } }

type migrator struct {
	target   dburl.Target
	db       *sql.DB
	goose    *goose.Provider
	versions versionTable
	log      *slog.Logger
	// files has the migrations of both dialects, a folder each; known are those of the database's dialect.
	files fs.FS
	known []Migration
	// lockAttempts is how often a migration is tried that finds a table locked.
	lockAttempts int
	// sent are the settings of a session of PostgreSQL.
	sent []pgconn.Setting
}

// openMigrator opens a connection of its own: without the timeouts of a server's, and on SQLite without
// foreign keys, because the rebuild of a table would cascade into the rows that refer to it.
func openMigrator(ctx context.Context, url string, options []Option) (*migrator, error) {
	t, err := dburl.Parse(url)
	if err != nil {
		return nil, err
	}
	m := &migrator{target: t, log: slog.New(slog.DiscardHandler), files: entmigrate.Files, lockAttempts: lockAttempts}
	for _, o := range options {
		o(m)
	}
	if t.IsSQLite() {
		err = m.openSQLite(ctx)
	} else {
		err = m.openPostgres()
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// read reads the migrations of a folder, to apply them by goose.
func (m *migrator) read(folder string, dialect goose.Dialect, options ...goose.ProviderOption) error {
	files, err := fs.Sub(m.files, folder)
	if err == nil {
		m.versions.Store, err = database.NewStore(dialect, goose.DefaultTablename)
	}

	if err == nil {
		m.versions.tableExists = compatibilityExists[dialect]
		options = append(options, goose.WithStore(&m.versions), goose.WithDisableGlobalRegistry(true))
		m.goose, err = goose.NewProvider(goose.DialectCustom, m.db, files, options...)
	}

	if err == nil {
		m.known, err = readMigrations(files, m.goose.ListSources())
		m.versions.compatible = map[int64]int64{}
		for _, k := range m.known {
			m.versions.compatible[k.Version] = k.CompatibleWith
		}
	}

	if err != nil {
		return errors.Join(fmt.Errorf("cannot read the migrations: %w", err), m.db.Close())
	}
	return nil
}

// readMigrations returns the migrations of a folder.
func readMigrations(files fs.FS, sources []*goose.Source) ([]Migration, error) {
	list := make([]Migration, len(sources))
	for i, s := range sources {
		text, err := fs.ReadFile(files, s.Path)
		if err != nil {
			return nil, err
		}
		list[i] = Migration{Version: s.Version, Name: s.Path, CompatibleWith: s.Version}
		if with, ok := entmigrate.CompatibleWith(text); ok {
			list[i].CompatibleWith = with
		}
	}
	return list, nil
}

func (m *migrator) up(ctx context.Context) (int, error) {
	if m.target.IsSQLite() {
		// The file is opened first, which makes it if there is none.
		if err := m.ping(ctx); err != nil {
			return 0, err
		}
		unlock, err := sqlitefile.WaitLock(ctx, m.target.Path+sqlitefile.MigrationLock)
		if err != nil {
			return 0, err
		}
		defer unlock() //nolint:errcheck // the kernel gives the lock up with the file in any case
	}

	list, err := m.listServable(ctx)
	if err != nil || pending(list) == 0 {
		return 0, err
	}

	applied, err := m.apply(ctx)
	if err != nil {
		return applied, fmt.Errorf("cannot migrate the database %s: %w", m.target, err)
	}
	if err := m.checkForeignKeys(ctx); err != nil {
		return applied, err
	}

	if applied < pending(list) {
		// Others have migrated meanwhile, by a newer version perhaps.
		_, err = m.listServable(ctx)
	}
	return applied, err
}

// listServable returns what list does, and ErrNewer or ErrOutOfOrder if this program may not serve the database.
func (m *migrator) listServable(ctx context.Context) ([]Migration, error) {
	list, err := m.list(ctx)
	if err == nil {
		err = m.checkNewer(list)
	}
	if err == nil {
		err = checkOrder(list)
	}
	return list, err
}

// list returns the migrations that the program knows and those that the database has besides, the oldest first.
func (m *migrator) list(ctx context.Context) ([]Migration, error) {
	if err := m.ping(ctx); err != nil {
		return nil, err
	}
	list := slices.Clone(m.known)
	// GetVersions makes the table of versions if there is none, and takes no lock.
	_, _, err := m.goose.GetVersions(ctx)
	if err == nil {
		list, err = m.versions.addApplied(ctx, m.db, list)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of the database %s: %w", m.target, err)
	}
	return list, nil
}

func (m *migrator) ping(ctx context.Context) error {
	if err := sqlitefile.Ping(ctx, m.db); err != nil {
		return fmt.Errorf("cannot open the database %s: %w", m.target, err)
	}
	return nil
}

// checkOrder returns ErrOutOfOrder if no program applies a migration any more.
func checkOrder(list []Migration) error {
	late := slices.IndexFunc(list, func(m Migration) bool { return m.OutOfOrder })
	if late < 0 {
		return nil
	}
	return fmt.Errorf("%w: %d was not applied, and later ones were; a version of slipway between those that migrated it "+
		"and this one is at fault: run the one that migrated it last, or restore the backup from before it",
		ErrOutOfOrder, list[late].Version)
}

// checkNewer returns ErrNewer if the database has a migration that this program may not serve. It logs
// that the database has newer ones if it may.
func (m *migrator) checkNewer(list []Migration) error {
	newest, last := m.known[len(m.known)-1].Version, list[len(list)-1].Version
	for _, needed := range slices.Backward(slices.SortedStableFunc(slices.Values(list), byCompatibility)) {
		if needed.Serves(newest) {
			continue
		}
		return fmt.Errorf("%w: its migration %d needs a program that has migration %d, and the newest of this one is %d; "+
			"run the version that migrated it, or restore the backup from before the upgrade",
			ErrNewer, needed.Version, needed.CompatibleWith, newest)
	}
	if last == newest {
		return nil
	}
	m.log.Info("a newer version of slipway has migrated the database, and this one may still serve it",
		"database_migration", last, "program_migration", newest)
	return nil
}

func byCompatibility(a, b Migration) int { return cmp.Compare(a.CompatibleWith, b.CompatibleWith) }

// pending returns how many migrations are not applied.
func pending(list []Migration) int {
	n := 0
	for _, m := range list {
		if !m.Applied {
			n++
		}
	}
	return n
}
