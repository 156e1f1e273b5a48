package database_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"slipway/bench/data"
	"slipway/bench/database"
	"slipway/bench/load"
	"slipway/bench/requests"
	"slipway/internal/test/pgtest"
	"slipway/internal/test/worldtest"
)

// few are enough to have every kind of row.
var few = data.World{Deployments: 1000}

func quiet(string, int, int) {}

// filled is a database with the rows.
type filled interface {
	CheckWritten(ctx context.Context, rollbacks int) error
	Clear(ctx context.Context) error
	Close() error
}

func TestEveryRequestIsAnsweredRight(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		d, err := database.OpenSQLite(t.Context(), t.TempDir(), few, quiet)
		if err != nil {
			t.Fatal(err)
		}
		answers(t, d, d.URL)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		superuser := pgtest.Superuser(t)
		d, err := database.OpenPostgresAt(t.Context(), os.Getenv(pgtest.Env), few, quiet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if _, err := superuser.ExecContext(context.Background(), "DROP DATABASE slipway_bench_1000 WITH (FORCE)"); err != nil {
				t.Error(err)
			}
		})
		answers(t, d, d.URL)
	})
}

// answers sends every kind of request to an API on the database, and looks at the answers and at what was written.
func answers(t *testing.T, d filled, url string) {
	t.Helper()
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	w := worldtest.Another(t, url)
	if bypasses, err := w.Store.BypassesRowSecurity(t.Context()); bypasses || err != nil {
		t.Errorf("the role must be held by row-level security: %t, %v", bypasses, err)
	}
	for _, kind := range requests.All() {
		l, err := load.Prepare(kind, few, strings.TrimPrefix(w.URL, "http://"), 2, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Run(t.Context(), 20*time.Millisecond)
		if err == nil {
			err = l.Check()
		}
		if err != nil || r.Requests == 0 {
			t.Errorf("%s: %d requests, error %v", kind.Name, r.Requests, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if !kind.Writes {
			continue
		}
		if err := d.CheckWritten(t.Context(), r.Requests+1); err == nil {
			t.Errorf("%s: the rows of one rollback more were found", kind.Name)
		}
		if err := d.CheckWritten(t.Context(), r.Requests); err != nil {
			t.Errorf("%s: %v", kind.Name, err)
		}
		if err := d.Clear(t.Context()); err != nil {
			t.Error(err)
		}
		if err := d.CheckWritten(t.Context(), 0); err != nil {
			t.Errorf("%s: what was written is still there: %v", kind.Name, err)
		}
	}
}
