package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"slipway/ent/migrate"
	"slipway/internal/store/dburl"
)

var (
	// ErrCorrupt is wrapped by what is wrong with a damaged SQLite file.
	ErrCorrupt = errors.New("corrupt")
	// ErrForeign is returned for a file that is no database of slipway.
	ErrForeign = errors.New("no database of slipway")
)

// corrupt returns the error of a database that is damaged, with what to do about it.
func corrupt(t dburl.Target, err error) error {
	return fmt.Errorf("the database %s is %w; put a backup in its place with: slipway restore --database %s --from FILE (docs/backup.md)", t, err, t)
}

// markServing writes into the server's lock, which the caller holds, that a server has a SQLite file open.
// unmarkServing takes the mark away; where it stays, the server has not ended in order.
func markServing(path string) error {
	f, err := os.OpenFile(path+serverLock, os.O_WRONLY|os.O_TRUNC, ownerOnly)
	if err != nil {
		return err
	}
	_, err = f.WriteString("serving\n")
	return errors.Join(err, f.Sync(), f.Close())
}

func unmarkServing(path string) error { return os.Truncate(path+serverLock, 0) }

// checkAfterUncleanEnd checks a SQLite file, before anything writes to it, where the last server did not end in
// order or left something in the -wal. It calls checking before it begins.
func checkAfterUncleanEnd(ctx context.Context, t dburl.Target, checking func(why string)) error {
	why, err := uncleanReason(t.Path)
	if err != nil || why == "" {
		return err
	}
	there, err := hasContent(t.Path)
	if err != nil {
		return err
	}
	if !there {
		return checkLog(t.Path)
	}
	if checking != nil {
		checking(why)
	}
	db, err := openToRead(t.Path)
	if err != nil {
		return err
	}
	err = quickCheck(ctx, db)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeign) {
		err = corrupt(t, err)
	}
	return errors.Join(err, db.Close())
}

// checkLog returns an error for a -wal whose database is not there: SQLite would delete it with the new one that
// it makes.
func checkLog(path string) error {
	left, err := hasContent(path + "-wal")
	if left {
		return fmt.Errorf("there is %s-wal without its database %s: put that back beside it, or move it away", path, path)
	}
	return err
}

// uncleanReason returns why a SQLite file may be damaged, or "". The mark stays where a tool has opened and closed the file
// meanwhile, which empties the -wal; the -wal tells of a file that came from elsewhere.
func uncleanReason(path string) (why string, err error) {
	serving, err := hasContent(path + serverLock)
	if err != nil {
		return "", err
	}
	if serving {
		return "the last server did not end in order", nil
	}
	left, err := hasContent(path + "-wal")
	if left {
		why = path + "-wal was left behind"
	}
	return why, err
}

// openToRead opens a SQLite file that others may be writing to. What is left in its -wal is read, and stays
// there: the last connection that may write, when it closes, moves that into the file.
func openToRead(path string) (*sql.DB, error) {
	left, err := hasContent(path + "-wal")
	if err != nil {
		return nil, err
	}
	mode := "rw" // which takes an empty -wal away again
	if left {
		mode = "ro"
	}
	db, err := sql.Open("sqlite", "file:"+escape(path)+"?mode="+mode+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// inspect checks that a file that nobody else knows, and that has no -wal, is a whole database of slipway, and
// returns its last migration. Its errors wrap ErrCorrupt or ErrForeign, or are of reading.
func inspect(ctx context.Context, path string) (migration int64, err error) {
	db, err := sql.Open("sqlite", "file:"+escape(path)+"?mode=ro&immutable=1")
	if err != nil {
		return 0, err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	if migration, err = lastMigration(ctx, db); err != nil {
		return 0, err
	}
	return migration, quickCheck(ctx, db)
}

// lastMigration returns the last migration of a SQLite database, or ErrForeign where it has not even the
// first.
func lastMigration(ctx context.Context, db *sql.DB) (int64, error) {
	var there bool
	err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)", goose.DefaultTablename).Scan(&there)
	if err != nil {
		return 0, damageError(err)
	}
	if !there {
		return 0, ErrForeign
	}
	first, _, err := knownMigrations()
	if err != nil {
		return 0, err
	}
	var last sql.NullInt64
	query := "SELECT max(version_id) FROM " + goose.DefaultTablename + " HAVING count(*) FILTER (WHERE version_id = ?) > 0"
	switch err := db.QueryRowContext(ctx, query, first).Scan(&last); {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrForeign
	case err != nil:
		return 0, damageError(err)
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

// quickCheck fails with ErrCorrupt where a page of a SQLite database is not as it should be.
func quickCheck(ctx context.Context, db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return damageError(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, found)
	}
	return nil
}

// damageError returns err wrapped as ErrCorrupt for a file that SQLite finds damaged, as ErrForeign for one that is
// no database, and any other as it is.
func damageError(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return err
}
