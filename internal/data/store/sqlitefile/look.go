package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	entmigrate "slipway/ent/migrate"
)

// Look returns an error if a path is not fit for a database: it and the files beside it must be missing, or regular
// files that are empty or slipway's. It changes nothing and makes no file, so it comes before anything else touches the
// path. Its errors wrap ErrForeign for what is not slipway's, and ErrCorrupt for a SQLite file that cannot be read.
func Look(ctx context.Context, path string) error {
	if err := lookAt(ctx, path); err != nil {
		return fmt.Errorf("cannot open the database sqlite:%s: %w", path, err)
	}
	return nil
}

func lookAt(ctx context.Context, path string) error {
	if err := lookBeside(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return foreignError(path, "it is "+kindOf(info.Mode()))
	case info.Size() == 0:
		return nil
	}
	return lookInto(ctx, path)
}

// foreignError returns the error for a file that is not slipway's, with why.
func foreignError(path, why string) error {
	return fmt.Errorf("%s is %w: %s; it was not changed; name another path in --database, or move it away",
		path, ErrForeign, why)
}

// kindOf describes what is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// lookBeside looks at the files whose names begin with the database's.
func lookBeside(path string) error {
	for _, suffix := range []string{"-wal", "-shm", "-journal", MigrationLock, ServerLock} {
		name := path + suffix
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return foreignError(name, "it is "+kindOf(info.Mode()))
		case suffix == MigrationLock && info.Size() > 0, suffix == ServerLock && info.Size() > int64(len(servingMark)):
			return foreignError(name, "it has content, and the lock of a database has none")
		}
	}

	info, err := os.Lstat(RestoreFolder(path))
	if err == nil && !info.IsDir() {
		return foreignError(RestoreFolder(path), "it is not a directory")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// lookInto looks at the tables of a file. SQLite reads it as a file that nobody writes, without locks and without files
// beside it. If that finds no table or damage, the tables may still be in the -wal of a program that has the file open.
func lookInto(ctx context.Context, path string) error {
	found, err := readTables(ctx, path, alone)
	if errors.Is(err, ErrForeign) {
		return foreignError(path, "it is not a SQLite file")
	}
	if err == nil && !found.none() {
		return found.check(path)
	}

	inLog, failed := HasContent(path + "-wal")
	if failed != nil {
		return failed
	}
	if inLog {
		found, err = lookIntoLog(ctx, path)
	}
	if err != nil {
		return err
	}
	return found.check(path)
}

// lookIntoLog returns the tables of a file that has a -wal. Reading that makes a -shm if there is none.
func lookIntoLog(ctx context.Context, path string) (tables, error) {
	inUse, err := Exists(path + "-shm")
	if err != nil {
		return tables{}, err
	}
	if inUse {
		return readTables(ctx, path, "mode=ro")
	}
	found, err := readTables(ctx, path, alone) // again, for the last program may have closed it just now
	if err == nil && found.none() {
		err = foreignError(path, "it has no table of slipway, and "+path+"-wal cannot be read without making another file")
	}
	return found, err
}

// alone has SQLite open a file as one that nobody writes.
const alone = "immutable=1"

// tables is what the schema of a SQLite file has.
type tables struct {
	// isOurs reports whether slipway made them. others are those that goose did not make.
	isOurs bool
	others int
	// one of the others, for a message.
	name string
}

func (f tables) none() bool { return !f.isOurs && f.others == 0 }

func (f tables) check(path string) error {
	if f.isOurs || f.none() {
		return nil
	}
	return foreignError(path, fmt.Sprintf("its table %q is another program's", f.name))
}

// readTables reads which tables a file has. A database has the table of what its migrations are compatible with, or was
// last migrated before that was there and has the oldest migration.
func readTables(ctx context.Context, path, how string) (found tables, err error) {
	oldest, err := entmigrate.Oldest("sqlite")
	if err != nil {
		return found, err
	}
	db, err := sql.Open("sqlite", "file:"+Escape(path)+"?"+how+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return found, err
	}
	db.SetMaxOpenConns(1)
	ctx = context.WithoutCancel(ctx)
	defer func() { err = errors.Join(err, db.Close()) }()

	var versions bool
	const read = `SELECT coalesce(max(name = 'goose_db_version'), 0), coalesce(max(name = 'migration_compatibility'), 0),
		count(*) FILTER (WHERE name <> 'goose_db_version'), coalesce(max(name) FILTER (WHERE name <> 'goose_db_version'), '')
		FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	if err := db.QueryRowContext(ctx, read).Scan(&versions, &found.isOurs, &found.others, &found.name); err != nil {
		return found, DamageError(err)
	}
	if found.isOurs = found.isOurs && versions; found.isOurs || !versions {
		return found, nil
	}
	err = db.QueryRowContext(ctx, "SELECT count(*) > 0 FROM goose_db_version WHERE version_id = ?", oldest).
		Scan(&found.isOurs)
	return found, DamageError(err)
}
