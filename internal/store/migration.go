package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"

	"slipway/ent/migrate"
)

// Migration is one step of the schema.
type Migration struct {
	Version int64
	// Name is that of its file. It is empty for a migration that only a newer version of the program has.
	Name    string
	Applied bool
	// CompatibleWith is the version of the oldest migration whose program may serve a database that has
	// this one: the migration's own where nothing else is said.
	CompatibleWith int64
}

// Serves reports whether a program may serve a database with this migration, where newest is the newest
// migration that the program has.
func (m Migration) Serves(newest int64) bool { return newest >= m.CompatibleWith }

// ErrNewer is returned for a database that a newer version of the program has migrated, so that this one
// may not serve it.
var ErrNewer = errors.New("the database was migrated by a newer version of slipway")

// known returns the migrations of a folder.
func known(files fs.FS, sources []*goose.Source) ([]Migration, error) {
	list := make([]Migration, len(sources))
	for i, s := range sources {
		text, err := fs.ReadFile(files, s.Path)
		if err != nil {
			return nil, err
		}
		list[i] = Migration{Version: s.Version, Name: s.Path, CompatibleWith: s.Version}
		if with, ok := migrate.CompatibleWith(text); ok {
			list[i].CompatibleWith = with
		}
	}
	return list, nil
}

// list returns the migrations that the program knows and those that the database has beyond them.
func (m *migrator) list(ctx context.Context) ([]Migration, error) {
	if err := m.ping(ctx); err != nil {
		return nil, err
	}
	list := slices.Clone(m.known)
	// GetVersions makes the table of versions where there is none, and takes no lock.
	current, latest, err := m.goose.GetVersions(ctx)
	if err == nil {
		err = m.markApplied(ctx, list)
	}
	if err == nil && current > latest {
		var newer []Migration
		newer, err = m.versions.after(ctx, m.db, latest)
		list = append(list, newer...)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of the database %s: %w", m.target, err)
	}
	return list, nil
}

func (m *migrator) markApplied(ctx context.Context, list []Migration) error {
	rows, err := m.versions.ListMigrations(ctx, m.db)
	if err != nil {
		return err
	}
	for _, row := range rows {
		at, ok := slices.BinarySearchFunc(list, row.Version, func(m Migration, v int64) int { return cmp.Compare(m.Version, v) })
		if ok {
			list[at].Applied = true
		}
	}
	return nil
}

func pending(list []Migration) int {
	n := 0
	for _, m := range list {
		if !m.Applied {
			n++
		}
	}
	return n
}

// checkNewer returns ErrNewer where the database has a migration that this program may not serve. It logs
// that the database has newer ones where it may.
func (m *migrator) checkNewer(list []Migration) error {
	newest := m.known[len(m.known)-1].Version
	last := list[len(list)-1]
	if last.Version == newest {
		return nil
	}
	needed := slices.MaxFunc(list, func(a, b Migration) int { return cmp.Compare(a.CompatibleWith, b.CompatibleWith) })
	if !needed.Serves(newest) {
		return fmt.Errorf("%w: its migration %d needs a program that has migration %d, and the newest of this one is %d; "+
			"run the version that migrated it, or restore the backup from before the upgrade",
			ErrNewer, needed.Version, needed.CompatibleWith, newest)
	}
	m.log.Info("a newer version of slipway has migrated the database, and this one may still serve it",
		"database_migration", last.Version, "program_migration", newest)
	return nil
}
