package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrCorrupt is wrapped by what is wrong with a damaged SQLite file.
	ErrCorrupt = errors.New("corrupt")
	// ErrForeign is returned for a file that is no database of slipway.
	ErrForeign = errors.New("no database of slipway")
)

// CorruptError returns the error of a database that is damaged, with what to do about it.
func CorruptError(path string, err error) error {
	return fmt.Errorf("the database sqlite:%s is %w; "+
		"put a backup in its place with: slipway restore --database sqlite:%s --from FILE (docs/backup.md)",
		path, err, path)
}

// servingMark is the content of the server's lock while a server has the file open.
const servingMark = "serving\n"

// MarkServing writes into the server's lock, which the caller holds, that a server has a SQLite file open.
func MarkServing(path string) error {
	f, err := os.OpenFile(path+ServerLock, os.O_WRONLY|os.O_TRUNC, OwnerOnly)
	if err != nil {
		return err
	}
	_, err = f.WriteString(servingMark)
	return errors.Join(err, f.Sync(), f.Close())
}

// UnmarkServing takes the mark away. If it stays, the server has not ended in order.
func UnmarkServing(path string) error { return os.Truncate(path+ServerLock, 0) }

// CheckAfterUncleanEnd checks a SQLite file, before anything writes to it, if the last server did not end in
// order or left something in the -wal. It calls checking before it begins.
func CheckAfterUncleanEnd(ctx context.Context, path string, checking func(why string)) error {
	why, err := uncleanReason(path)
	if err != nil || why == "" {
		return err
	}
	there, err := HasContent(path)
	if err != nil || !there {
		return err
	}

	if checking != nil {
		checking(why)
	}

	db, err := OpenToRead(path)
	if err != nil {
		return err
	}
	err = QuickCheck(ctx, db)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeign) {
		err = CorruptError(path, err)
	}
	return errors.Join(err, db.Close())
}

// uncleanReason returns why a SQLite file may be damaged, or "". The mark stays if a tool has opened and closed the
// file meanwhile, which empties the -wal; the -wal tells of a file that came from elsewhere.
func uncleanReason(path string) (why string, err error) {
	serving, err := HasContent(path + ServerLock)
	if err != nil {
		return "", err
	}
	if serving {
		return "the last server did not end in order", nil
	}
	left, err := HasContent(path + "-wal")
	if left {
		why = path + "-wal was left behind"
	}
	return why, err
}

// QuickCheck fails with ErrCorrupt if a page of a SQLite database is not as it should be.
func QuickCheck(ctx context.Context, db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return DamageError(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, found)
	}
	return nil
}

// DamageError returns err wrapped as ErrCorrupt for a file that SQLite finds damaged, as ErrForeign for one that is
// no database, and any other as it is.
func DamageError(err error) error {
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
