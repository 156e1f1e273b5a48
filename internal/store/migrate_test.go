package store_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	entmigrate "slipway/ent/migrate"
	"slipway/internal/pgtest"
	"slipway/internal/store"
)

// eachEmpty runs a test against an empty database of each kind.
func eachEmpty(t *testing.T, test func(t *testing.T, url string, files int)) {
	t.Helper()
	for kind, open := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "slipway.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			files, err := fs.Glob(entmigrate.Files, kind+"/*.sql")
			if err != nil || len(files) == 0 {
				t.Fatalf("%d migrations, %v", len(files), err)
			}
			test(t, open(t), len(files))
		})
	}
}

func TestMigrateBringsAnEmptyDatabaseUpToDate(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, files int) {
		ctx := t.Context()
		if n, err := store.Pending(ctx, url); n != files || err != nil {
			t.Errorf("before: %d pending, %v, want %d", n, err, files)
		}
		if n, err := store.Migrate(ctx, url); n != files || err != nil {
			t.Fatalf("%d applied, %v, want %d", n, err, files)
		}
		if n, err := store.Pending(ctx, url); n != 0 || err != nil {
			t.Errorf("after: %d pending, %v", n, err)
		}
		if n, err := store.Migrate(ctx, url); n != 0 || err != nil {
			t.Errorf("again: %d applied, %v", n, err)
		}
		list, err := store.Migrations(ctx, url)
		if err != nil || len(list) != files {
			t.Fatalf("%v, %v", list, err)
		}
		for _, m := range list {
			if !m.Applied || m.Version == 0 || !strings.HasSuffix(m.Name, ".sql") {
				t.Errorf("%+v", m)
			}
		}
	})
}

func TestEightThatMigrateAtOnceApplyEachMigrationOnce(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, files int) {
		var applied atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				n, err := store.Migrate(t.Context(), url)
				if err != nil {
					t.Error(err)
				}
				applied.Add(int64(n))
			})
		}
		all.Wait()
		if applied.Load() != int64(files) {
			t.Errorf("%d applied, want %d", applied.Load(), files)
		}
	})
}

func TestDatabaseOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, _ int) {
		if _, err := store.Migrate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		execute(t, url, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (29991231235959, true)`)
		if _, err := store.Migrate(t.Context(), url); !errors.Is(err, store.ErrNewer) {
			t.Errorf("migrate: %v", err)
		}
		if _, err := store.Pending(t.Context(), url); !errors.Is(err, store.ErrNewer) {
			t.Errorf("pending: %v", err)
		}
	})
}

func TestMigrationThatFailsLeavesTheDatabaseAsItWas(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, url string, files int) {
		// One of the last tables that the first migration makes is in its way.
		execute(t, url, `CREATE TABLE tokens (id integer)`)
		_, err := store.Migrate(t.Context(), url)
		if err == nil || !strings.Contains(err.Error(), "cannot migrate the database") {
			t.Fatalf("%v", err)
		}
		if n, err := store.Pending(t.Context(), url); n != files || err != nil {
			t.Errorf("%d pending, %v, want %d", n, err, files)
		}
		execute(t, url, `DROP TABLE tokens`)
		if n, err := store.Migrate(t.Context(), url); n != files || err != nil {
			t.Errorf("when nothing is in the way: %d applied, %v, want %d", n, err, files)
		}
	})
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	driver := "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, url = "sqlite", path
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
