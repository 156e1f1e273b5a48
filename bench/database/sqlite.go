package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	// The driver "sqlite".
	_ "modernc.org/sqlite"

	"slipway/bench/data"
	"slipway/internal/data/store/migrate"
)

// SQLite is a file of SQLite.
type SQLite struct {
	// URL is the file for those who are measured.
	URL string
	db  *sql.DB
}

// OpenSQLite fills a file in a folder where it is not there yet, and opens it. The caller closes it.
func OpenSQLite(ctx context.Context, dir string, w data.World, progress Progress) (*SQLite, error) {
	stamp, err := w.Fingerprint()
	if err != nil {
		return nil, err
	}

	file := filepath.Join(dir, fmt.Sprintf("sqlite-%d-%s.db", w.Deployments, stamp))
	filled, err := isFilled(ctx, file)
	if err != nil {
		return nil, err
	}

	if !filled {
		if err := fillFile(ctx, file, w, progress); err != nil {
			return nil, err
		}
	}

	db, err := openFile(file)
	if err != nil {
		return nil, err
	}
	s := &SQLite{URL: "sqlite:" + file, db: db}
	if err := s.Clear(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// isFilled reports whether a file is there as it is to be.
func isFilled(ctx context.Context, file string) (bool, error) {
	if _, err := os.Stat(file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	return migrated(ctx, "sqlite:"+file)
}

// openFile opens a file as the store does, so that times have one form, but without foreign keys.
func openFile(file string) (*sql.DB, error) {
	name := "file:" + strings.ReplaceAll(url.QueryEscape(file), "+", "%20") +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_time_format=sqlite"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// fillFile makes a file with all rows, under another name until it is whole.
func fillFile(ctx context.Context, file string, w data.World, progress Progress) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	partial := file + ".partial"
	// What is there of other rows as many, or of a run that was broken off, has no use any more.
	old, err := filepath.Glob(filepath.Join(filepath.Dir(file), fmt.Sprintf("sqlite-%d-*", w.Deployments)))
	if err != nil {
		return err
	}

	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}

	if _, err := migrate.Up(ctx, "sqlite:"+partial); err != nil {
		return err
	}
	db, err := openFile(partial)
	if err != nil {
		return err
	}
	if err := fillTables(ctx, db, w, progress); err != nil {
		return errors.Join(err, db.Close())
	}
	// Closing writes what is in the log into the file.
	if err := db.Close(); err != nil {
		return err
	}
	return os.Rename(partial, file)
}

func fillTables(ctx context.Context, db *sql.DB, w data.World, progress Progress) error {
	if err := execute(ctx, db, "PRAGMA synchronous=OFF", "PRAGMA cache_size=-200000"); err != nil {
		return err
	}
	const secondary = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'deployments' AND sql IS " +
		"NOT NULL ORDER BY name"
	// There is no ANALYZE, because the program runs none either.
	return withoutIndexes(ctx, db, secondary, progress, func() error {
		for _, t := range w.Tables() {
			if err := insertAll(ctx, db, t, progress); err != nil {
				return err
			}
		}
		return nil
	})
}

func insertAll(ctx context.Context, db *sql.DB, t data.Table, progress Progress) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()

	marks := strings.Repeat(", ?", len(t.Columns))[2:]
	statement, err := tx.PrepareContext(
		ctx, "INSERT INTO "+t.Name+` ("`+strings.Join(t.Columns, `", "`)+`") VALUES (`+marks+")",
	)
	if err != nil {
		return err
	}
	if err := errors.Join(insert(ctx, statement, t, progress), statement.Close()); err != nil {
		return err
	}
	return tx.Commit()
}

// CheckWritten returns an error if there is not one row of each kind for each of so many rollbacks.
func (s *SQLite) CheckWritten(ctx context.Context, rollbacks int) error {
	return checkWritten(ctx, s.db, rollbacks)
}

// Clear removes what rollbacks have written.
func (s *SQLite) Clear(ctx context.Context) error {
	return execute(ctx, s.db, "DELETE FROM deployments WHERE completed_at IS NULL", "DELETE FROM deployment_changes",
		"DELETE FROM audit_events", "PRAGMA wal_checkpoint(TRUNCATE)")
}

// CPU returns 0: what it takes is part of what the program takes.
func (s *SQLite) CPU() (time.Duration, error) { return 0, nil }

// Close closes the file, which stays for the next run.
func (s *SQLite) Close() error { return s.db.Close() }
