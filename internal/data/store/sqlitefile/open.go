package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DSN returns the name under which SQLite opens a file. A file that it makes has the mode of the
// migration's lock, and those beside it have the mode of the file.
func DSN(path string) string {
	return "file:" + Escape(path) + "?modeof=" + Escape(path+MigrationLock) +
		"&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_time_format=sqlite"
}

// Escape returns a path without the characters that mean something in SQLite's URIs.
func Escape(path string) string { return strings.ReplaceAll(url.QueryEscape(path), "+", "%20") }

// OpenToRead opens a SQLite file that others may be writing to. What is left in its -wal is read, and stays
// there: the last connection that may write, when it closes, moves that into the file.
func OpenToRead(path string) (*sql.DB, error) {
	left, err := HasContent(path + "-wal")
	if err != nil {
		return nil, err
	}
	mode := "rw" // which takes an empty -wal away again
	if left {
		mode = "ro"
	}
	db, err := sql.Open("sqlite", "file:"+Escape(path)+"?mode="+mode+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

const (
	// openTimeout is how long the first connection to a file waits for others that open it for the first time:
	// setting the journal's mode does not wait by itself.
	openTimeout = 5 * time.Second
	// openWait is between two attempts.
	openWait = 10 * time.Millisecond
)

// Ping opens the first connection of a pool. One of PostgreSQL has nothing to wait for.
func Ping(ctx context.Context, db *sql.DB) error {
	for deadline := time.Now().Add(openTimeout); ; {
		err := db.PingContext(ctx)
		var e *sqlite.Error
		if !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(openWait):
		}
	}
}
