package pgtest_test

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"slipway/internal/test/pgtest"
)

func TestDatabaseIsEmptyAndOwnedByNoSuperuser(t *testing.T) {
	t.Parallel()
	db := open(t, pgtest.URL(t))
	if got := ask[bool](t, db, "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user"); got {
		t.Error("the role goes around row-level security")
	}
	if got := ask[int](t, db, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"); got != 0 {
		t.Errorf("%d relations in a new database", got)
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (a int); INSERT INTO t VALUES (1)"); err != nil {
		t.Errorf("the owner cannot make a table: %v", err)
	}
}

func TestDatabaseGoesWithItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("uses it", func(t *testing.T) {
		u, err := url.Parse(pgtest.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		name = strings.TrimPrefix(u.Path, "/")
		if ask[int](t, open(t, u.String()), "SELECT 1") != 1 {
			t.Error("it does not answer")
		}
		// A connection that the test forgot does not keep the database.
		forgotten, err := sql.Open("postgres", u.String())
		if err != nil || forgotten.PingContext(t.Context()) != nil {
			t.Fatal("connect once more")
		}
	})
	if ask[bool](t, pgtest.Superuser(t), "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name) {
		t.Errorf("%q is still there", name)
	}
}

func TestTemplateIsPreparedOnceAndCopiedForEachTest(t *testing.T) {
	t.Parallel()
	pgtest.Superuser(t)
	name := rand.Text()
	var prepared atomic.Int32
	prepare := func(url string) error {
		prepared.Add(1)
		return fill(url)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			db := open(t, pgtest.Template(t, name, prepare))
			if got := ask[int](t, db, "INSERT INTO item DEFAULT VALUES RETURNING (SELECT count(*) FROM item)"); got != 1 {
				t.Errorf("%d rows before the test's own, want the template's one", got)
			}
		})
	}
	all.Wait()
	if got := prepared.Load(); got != 1 {
		t.Errorf("prepared %d times", got)
	}
	open(t, pgtest.Template(t, rand.Text(), prepare))
	if got := prepared.Load(); got != 2 {
		t.Errorf("another name: prepared %d times", got)
	}
}

func TestTemplateThatCouldNotBePreparedIsTriedAgain(t *testing.T) {
	t.Parallel()
	pgtest.Superuser(t)
	name := rand.Text()
	failed := &recorder{TB: t}
	var ended sync.WaitGroup
	// Fatalf ends the goroutine that it is called on.
	ended.Go(func() {
		pgtest.Template(failed, name, func(url string) error { return errors.Join(fill(url), errors.New("half done")) })
	})
	ended.Wait()
	if !failed.fatal {
		t.Fatal("the test went on")
	}
	db := open(t, pgtest.Template(t, name, fill))
	if got := ask[int](t, db, "SELECT count(*) FROM item"); got != 1 {
		t.Errorf("%d rows", got)
	}
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	fatal bool
}

func (r *recorder) Fatalf(string, ...any) {
	r.fatal = true
	runtime.Goexit()
}

func fill(url string) error {
	db, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	_, err = db.Exec("CREATE TABLE item (id int GENERATED ALWAYS AS IDENTITY); INSERT INTO item DEFAULT VALUES")
	return errors.Join(err, db.Close())
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func ask[T any](t *testing.T, db *sql.DB, query string, args ...any) T {
	t.Helper()
	var got T
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&got); err != nil {
		t.Errorf("%s: %v", query, err)
	}
	return got
}
