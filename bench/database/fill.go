// Package database makes the databases that the benchmark runs on, keeps them for the next run, and puts them back to
// what they were after what was measured has written.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"slipway/bench/data"
	"slipway/internal/data/store/migrate"
)

// Progress is called while a database is filled: with a table, how many of its rows were written and how many there
// are.
type Progress func(table string, done, total int)

// progressEvery is how many rows are written between two calls of a Progress.
const progressEvery = 1000

// insert writes the rows of a table by a statement that takes the values of one.
func insert(ctx context.Context, statement *sql.Stmt, t data.Table, progress Progress) error {
	for number := range t.Count {
		row, err := t.Row(number)
		if err == nil && row != nil {
			_, err = statement.ExecContext(ctx, row...)
		}
		if err != nil {
			return fmt.Errorf("write row %d of %s: %w", number, t.Name, err)
		}
		if number%progressEvery == 0 {
			progress(t.Name, number, t.Count)
		}
	}
	progress(t.Name, t.Count, t.Count)
	return nil
}

// withoutIndexes runs f while the indexes of the deployments are away, and makes them again: to make them of all rows
// takes a fraction of what it takes to keep them row by row. The query lists their names and definitions.
func withoutIndexes(ctx context.Context, db *sql.DB, query string, progress Progress, f func() error) error {
	names, definitions, err := indexes(ctx, db, query)
	if err != nil {
		return err
	}

	for _, name := range names {
		if _, err := db.ExecContext(ctx, `DROP INDEX "`+name+`"`); err != nil {
			return fmt.Errorf("drop the index %s: %w", name, err)
		}
	}

	if err := f(); err != nil {
		return err
	}

	for i, definition := range definitions {
		progress("indexes", i, len(definitions))
		if _, err := db.ExecContext(ctx, definition); err != nil {
			return fmt.Errorf("make the index %s: %w", names[i], err)
		}
	}

	progress("indexes", len(definitions), len(definitions))
	return nil
}

func indexes(ctx context.Context, db *sql.DB, query string) (names, definitions []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, fmt.Errorf("list the indexes: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, definition string
		if err := rows.Scan(&name, &definition); err != nil {
			return nil, nil, fmt.Errorf("list the indexes: %w", err)
		}
		names, definitions = append(names, name), append(definitions, definition)
	}
	return names, definitions, rows.Err()
}

// migrated reports whether a database has exactly the migrations that this program knows.
func migrated(ctx context.Context, url string) (bool, error) {
	list, err := migrate.List(ctx, url)
	if err != nil {
		return false, err
	}
	for _, m := range list {
		if !m.Applied || m.Name == "" {
			return false, nil
		}
	}
	return true, nil
}

// written are the kinds of rows that a rollback writes.
var written = []string{"deployments WHERE completed_at IS NULL", "deployment_changes", "audit_events"}

// countWritten returns how many rows of each kind that a rollback writes there are.
func countWritten(ctx context.Context, db *sql.DB) (counts []int, err error) {
	for _, kind := range written {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+kind).Scan(&n); err != nil {
			return nil, fmt.Errorf("count the %s: %w", kind, err)
		}
		counts = append(counts, n)
	}
	return counts, nil
}

// checkWritten returns an error if there is not one row of each kind for each of so many rollbacks.
func checkWritten(ctx context.Context, db *sql.DB, rollbacks int) error {
	counts, err := countWritten(ctx, db)
	if err != nil {
		return err
	}
	for i, n := range counts {
		if n != rollbacks {
			return fmt.Errorf("%d rollbacks have written %d of %s", rollbacks, n, written[i])
		}
	}
	return nil
}

// execute runs statements one after the other.
func execute(ctx context.Context, db *sql.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			first, _, _ := strings.Cut(s, "\n")
			return errors.Join(fmt.Errorf("%s: %w", first, err))
		}
	}
	return nil
}
