// Package backup copies a SQLite database while it is written to, and puts such a copy in its place. The files of
// PostgreSQL are its operator's.
package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"slipway/internal/data/store/dburl"
	"slipway/internal/data/store/sqlitefile"
)

// Copy is a copy of a SQLite database.
type Copy struct {
	// Bytes is its size.
	Bytes int64
	// Migration is the last one that was applied to it.
	Migration int64
}

// Write copies a SQLite database, as it is at one moment, into a file that is not there yet and that
// only its owner may read. Others may write to the database meanwhile. The copy is checked before it gets
// its name: it is there whole, or not at all.
func Write(ctx context.Context, databaseURL, file string) (Copy, error) {
	t, err := parseSQLite(databaseURL)
	if err != nil {
		return Copy{}, err
	}

	if err := checkNotTaken(file); err != nil {
		return Copy{}, err
	}
	switch err := sqlitefile.Look(ctx, t.Path); {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return Copy{}, fmt.Errorf("no backup was written: %w", sqlitefile.CorruptError(t.Path, err))
	case err != nil:
		return Copy{}, err
	}
	if err := sqlitefile.CheckNotHalfRestored(t.Path); err != nil {
		return Copy{}, err
	}

	partial, err := newPartial(file)
	if err != nil {
		return Copy{}, fmt.Errorf("cannot write the backup %s: %w", file, err)
	}
	defer func() { _ = os.Remove(partial) }()

	var migration int64
	err = sqlitefile.DamageError(copyPages(ctx, t.Path, partial))
	if err == nil {
		migration, err = inspect(ctx, partial)
	}
	switch {
	case errors.Is(err, sqlitefile.ErrCorrupt):
		return Copy{}, fmt.Errorf("no backup was written: %w", sqlitefile.CorruptError(t.Path, err))
	case err != nil:
		return Copy{}, fmt.Errorf("cannot write a backup of %s to %s: %w", t, file, err)
	}

	bytes, err := publish(partial, file)
	return Copy{bytes, migration}, err
}

// parseSQLite parses the URL of a SQLite database.
func parseSQLite(raw string) (dburl.Target, error) {
	t, err := dburl.Parse(raw)
	if err == nil && !t.IsSQLite() {
		err = fmt.Errorf("%w of SQLite: %s", dburl.ErrInvalid, t)
	}
	return t, err
}

// checkNotTaken returns an error if there is a file of the name.
func checkNotTaken(file string) error {
	taken, err := sqlitefile.Exists(file)
	if taken {
		return fmt.Errorf("there is a file %s already, and a backup overwrites none", file)
	}
	return err
}

// newPartial creates an empty file beside another, for its owner alone whatever the umask is.
func newPartial(file string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".partial-*")
	if err != nil {
		return "", err
	}
	if err := errors.Join(f.Chmod(sqlitefile.OwnerOnly), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// pagesAtOnce is how many pages are copied between two looks at the context.
const pagesAtOnce = 256

// copyPages copies the pages of a SQLite database into an empty file. It reads in one transaction: without
// it the copy would begin anew with every write of another process, and under constant writes never end.
func copyPages(ctx context.Context, from, to string) (err error) {
	db, err := sqlitefile.OpenToRead(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := beginReading(ctx, conn); err != nil {
		return err
	}

	return conn.Raw(func(c any) error {
		source, ok := c.(interface {
			NewBackup(to string) (*sqlite.Backup, error)
		})
		if !ok {
			return fmt.Errorf("backup: %T makes no backups", c)
		}

		// Nothing is there to be rolled back to, and publish writes it to the disk.
		backup, err := source.NewBackup("file:" + sqlitefile.Escape(to) +
			"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)")
		if err != nil {
			return err
		}

		for more := true; more && err == nil; {
			if more, err = backup.Step(pagesAtOnce); err == nil {
				err = ctx.Err()
			}
		}

		if end := backup.Finish(); err == nil {
			err = end
		}
		return err
	})
}

// beginReading begins a transaction and reads, from where on the connection sees nothing else.
func beginReading(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	var objects int
	return conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&objects)
}

// publish writes a file to the disk and renames it, unless the name is taken. It returns the size. If it fails
// there is nothing under the name.
func publish(partial, file string) (int64, error) {
	info, err := os.Stat(partial)
	if err == nil {
		err = syncFile(partial)
	}
	if err != nil {
		return 0, fmt.Errorf("cannot write the backup %s: %w", file, err)
	}

	// A link, unlike a new name, replaces nothing.
	err = os.Link(partial, file)
	switch {
	case errors.Is(err, fs.ErrExist):
		return 0, checkNotTaken(file)
	case err != nil:
		return 0, fmt.Errorf("cannot write the backup %s: %w", file, err)
	}

	if err := errors.Join(os.Remove(partial), syncFile(filepath.Dir(file))); err != nil {
		return 0, errors.Join(fmt.Errorf("cannot write the backup %s: %w", file, err), os.Remove(file))
	}
	return info.Size(), nil
}
