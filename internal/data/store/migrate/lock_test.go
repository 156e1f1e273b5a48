package migrate_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"slipway/internal/data/store/migrate"
	"slipway/internal/test/pgtest"
)

// index is a migration that builds an index of the table a.
const index = `-- +goose NO TRANSACTION
-- +goose Up
-- compatible-with: 20260101000000
SET lock_timeout = 0;
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "a_id" ON "a" ("id");
RESET lock_timeout;
`

// postgres makes an empty database in which the first migration has made the table a.
func postgres(t *testing.T) (url string, db *sql.DB) {
	t.Helper()
	url = pgtest.URL(t)
	if _, err := migrate.Up(t.Context(), url, migrations(map[int]string{version1: step("a", 0)})); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return url, db
}

func run(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statement string,
) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

func begin(t *testing.T, db *sql.DB, statement string) *sql.Tx {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	run(t, tx, statement)
	return tx
}

// logged calls a function for each line of a log.
type logged func(slog.Record)

func (logged) Enabled(context.Context, slog.Level) bool           { return true }
func (f logged) Handle(_ context.Context, line slog.Record) error { f(line); return nil }
func (f logged) WithAttrs([]slog.Attr) slog.Handler               { return f }
func (f logged) WithGroup(string) slog.Handler                    { return f }
func logTo(f func(slog.Record)) migrate.Option                    { return migrate.LogTo(slog.New(logged(f))) }

// indexes returns the table's indexes, and which of them are invalid.
func indexes(t *testing.T, db *sql.DB) string {
	t.Helper()
	var got string
	err := db.QueryRowContext(t.Context(), `SELECT coalesce(string_agg(indexrelid::regclass || CASE WHEN indisvalid THEN '' ELSE ' invalid' END, ', '), '')
		FROM pg_index WHERE indrelid = 'a'::regclass`).Scan(&got)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestMigrationLetsOthersPassWhileItWaitsForALock(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	reader := begin(t, db, `SELECT * FROM a`)
	tries := 0
	log := logTo(func(line slog.Record) {
		if !strings.Contains(line.Message, "found a table locked") {
			t.Error(line.Message)
		}
		// Between two tries nothing of the migration is in the way of a write.
		run(t, db, `INSERT INTO a VALUES (1)`)
		if tries++; tries == 2 {
			if err := reader.Rollback(); err != nil {
				t.Error(err)
			}
		}
	})
	files := map[int]string{version1: step("a", 0), version2: step("b", 0), version3: "-- +goose Up\nALTER TABLE a ADD COLUMN name text;\n"}
	if n, err := migrate.Up(t.Context(), url, migrations(files), log); n != 2 || err != nil {
		t.Errorf("%d applied, %v", n, err)
	}
	if tries != 2 {
		t.Errorf("told of %d tries, want 2", tries)
	}
	run(t, db, `UPDATE a SET name = 'x'`)
}

func TestMigrationGivesUpATableThatStaysLocked(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	reader := begin(t, db, `SELECT * FROM a`)
	files := migrations(map[int]string{version1: step("a", 0), version2: "-- +goose Up\nCREATE TABLE b (id integer);\nALTER TABLE a ADD COLUMN name text;\n"})
	_, err := migrate.Up(t.Context(), url, files, migrate.LockAttempts(2))
	if err == nil || !strings.Contains(err.Error(), "a table stayed locked through 2 tries; what holds the lock is in pg_stat_activity") {
		t.Errorf("%v", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n, err := migrate.Up(t.Context(), url, files, migrate.LockAttempts(1)); n != 1 || err != nil {
		t.Errorf("when nothing is in the way: %d applied, %v", n, err)
	}
}

func TestIndexIsBuiltHoweverLongATransactionKeepsIt(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	writer := begin(t, db, `INSERT INTO a VALUES (1)`)
	var built sync.WaitGroup
	built.Go(func() {
		if n, err := migrate.Up(t.Context(), url, migrations(map[int]string{version1: step("a", 0), version2: index}), migrate.LockAttempts(1)); n != 1 || err != nil {
			t.Errorf("%d applied, %v", n, err)
		}
	})
	// Any other statement of a migration would have given up.
	waiting(t, db, "200 milliseconds")
	run(t, db, `INSERT INTO a VALUES (2)`)
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	built.Wait()
	if got := indexes(t, db); got != "a_id" {
		t.Errorf("the table has the indexes %q", got)
	}
}

// waiting waits until an index is being built that has waited so long for a transaction, and returns its process.
func waiting(t *testing.T, db *sql.DB, long string) (pid int) {
	t.Helper()
	for pid == 0 && t.Context().Err() == nil {
		err := db.QueryRowContext(t.Context(), `SELECT coalesce(max(pid), 0) FROM pg_stat_activity
			WHERE datname = current_database() AND query LIKE 'CREATE%CONCURRENTLY%' AND wait_event_type = 'Lock'
			AND clock_timestamp() - query_start >= $1::interval`, long).Scan(&pid)
		if err != nil {
			t.Fatal(err)
		}
	}
	return pid
}

func TestIndexWhoseBuildWasBrokenOffIsBuiltByTheNextAttempt(t *testing.T) {
	t.Parallel()
	for name, breakOff := range map[string]func(t *testing.T, db *sql.DB, stop context.CancelFunc){
		"connection cut":    func(t *testing.T, db *sql.DB, _ context.CancelFunc) { terminate(t, db, waiting(t, db, "0")) },
		"statement ended":   func(t *testing.T, db *sql.DB, _ context.CancelFunc) { cancel(t, db, waiting(t, db, "0")) },
		"program was ended": func(t *testing.T, db *sql.DB, stop context.CancelFunc) { waiting(t, db, "0"); stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, db := postgres(t)
			writer := begin(t, db, `INSERT INTO a VALUES (1)`)
			files := migrations(map[int]string{version1: step("a", 0), version2: index, version3: step("b", 0)})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var ended sync.WaitGroup
			ended.Go(func() {
				if n, err := migrate.Up(ctx, url, files); n != 0 || err == nil {
					t.Errorf("broken off: %d applied, %v", n, err)
				}
			})
			breakOff(t, db, stop)
			ended.Wait()
			if err := writer.Commit(); err != nil {
				t.Fatal(err)
			}
			if n, err := migrate.Up(t.Context(), url, files); n != 2 || err != nil {
				t.Errorf("next: %d applied, %v", n, err)
			}
			if got := indexes(t, db); got != "a_id" {
				t.Errorf("the table has the indexes %q", got)
			}
		})
	}
}

func terminate(t *testing.T, db *sql.DB, pid int) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), `SELECT pg_terminate_backend($1)`, pid); err != nil {
		t.Error(err)
	}
}

func cancel(t *testing.T, db *sql.DB, pid int) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), `SELECT pg_cancel_backend($1)`, pid); err != nil {
		t.Error(err)
	}
}

func TestIndexThatCannotBeBuiltLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	run(t, db, `INSERT INTO a VALUES (1), (1)`)
	files := migrations(map[int]string{version1: step("a", 0), version2: index})
	if n, err := migrate.Up(t.Context(), url, files); n != 0 || err == nil || !strings.Contains(err.Error(), "could not create unique index") {
		t.Fatalf("%d applied, %v", n, err)
	}
	if got := indexes(t, db); got != "" {
		t.Errorf("the table has the indexes %q", got)
	}
	run(t, db, `TRUNCATE a`)
	if n, err := migrate.Up(t.Context(), url, files); n != 1 || err != nil || indexes(t, db) != "a_id" {
		t.Errorf("%d applied, %v, the table has the indexes %q", n, err, indexes(t, db))
	}
}

func TestIndexThatIsThereIsKept(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	run(t, db, `CREATE UNIQUE INDEX a_id ON a (id)`)
	var before, after int
	oid := func(to *int) {
		if err := db.QueryRowContext(t.Context(), `SELECT 'a_id'::regclass::oid`).Scan(to); err != nil {
			t.Error(err)
		}
	}
	oid(&before)
	if n, err := migrate.Up(t.Context(), url, migrations(map[int]string{version1: step("a", 0), version2: index})); n != 1 || err != nil {
		t.Errorf("%d applied, %v", n, err)
	}
	if oid(&after); after != before {
		t.Error("it was built again")
	}
}

func TestEightThatBuildAnIndexAtOnceBuildItOnce(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	writer := begin(t, db, `INSERT INTO a VALUES (1)`)
	applied := make([]int, 8)
	var all sync.WaitGroup
	for i := range applied {
		all.Go(func() {
			var err error
			if applied[i], err = migrate.Up(t.Context(), url, migrations(map[int]string{version1: step("a", 0), version2: index, version3: step("b", 0)})); err != nil {
				t.Error(err)
			}
		})
	}
	waiting(t, db, "0")
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if slices.Sort(applied); !slices.Equal(applied, []int{0, 0, 0, 0, 0, 0, 0, 2}) {
		t.Errorf("%v were applied", applied)
	}
	if got := indexes(t, db); got != "a_id" {
		t.Errorf("the table has the indexes %q", got)
	}
}

func TestProgramThatWaitsWhileANewerOneMigratesIsRefused(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	writer := begin(t, db, `INSERT INTO a VALUES (1)`)
	older := map[int]string{version1: step("a", 0), version2: index}
	newer := map[int]string{version1: older[version1], version2: index, version3: step("b", 0)}
	var all sync.WaitGroup
	all.Go(func() {
		if n, err := migrate.Up(t.Context(), url, migrations(newer)); n != 2 || err != nil {
			t.Errorf("the newer program: %d applied, %v", n, err)
		}
	})
	waiting(t, db, "0")
	all.Go(func() {
		if n, err := migrate.Up(t.Context(), url, migrations(older)); n != 0 || !errors.Is(err, migrate.ErrNewer) {
			t.Errorf("the older program: %d applied, %v", n, err)
		}
	})
	for asked := false; !asked && t.Context().Err() == nil; {
		err := db.QueryRowContext(t.Context(), `SELECT count(*) > 0 FROM pg_stat_activity
			WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory_lock%'`).Scan(&asked)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

func TestMigrationIsNotCutByATimeoutOfTheDatabase(t *testing.T) {
	t.Parallel()
	url, db := postgres(t)
	run(t, db, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 1', current_database()); END $$`)
	files := map[int]string{version1: step("a", 0), version2: "-- +goose Up\nINSERT INTO a SELECT generate_series(1, 100000);\n"}
	if n, err := migrate.Up(t.Context(), url, migrations(files)); n != 1 || err != nil {
		t.Errorf("%d applied, %v", n, err)
	}
}
