package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"slipway/ent"
	"slipway/ent/organization"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// write runs f in a transaction of an admin.
func write(t *testing.T, w *worldtest.World, f func(ctx context.Context, tx *ent.Tx)) {
	t.Helper()
	must(t, w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		f(ctx, tx)
		return nil
	}))
}

func TestPreparedStatementIsRightAfterAMigration(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ctx := w.Acme.As(actor.Admin)
	width := func() (columns []string) {
		write(t, w, func(ctx context.Context, tx *ent.Tx) {
			rows, err := tx.QueryContext(ctx, "SELECT * FROM organizations")
			must(t, err)
			columns, err = rows.Columns()
			must(t, errors.Join(err, rows.Err(), rows.Close()))
		})
		return columns
	}
	before := width()
	n := w.Store.Client.Organization.Query().CountX(ctx)
	db := w.Raw(t, w.Acme)
	for _, migration := range []string{
		"ALTER TABLE organizations ADD COLUMN color TEXT", "DROP INDEX organizations_slug_key",
		"CREATE UNIQUE INDEX organizations_slug_key ON organizations (slug)",
	} {
		_, err := db.ExecContext(ctx, migration)
		must(t, err)
		if after := width(); len(after) != len(before)+1 {
			t.Errorf("after %s: columns %v", migration, after)
		}
		if got := w.Store.Client.Organization.Query().CountX(ctx); got != n {
			t.Errorf("after %s: %d organizations, want %d", migration, got, n)
		}
	}
}

func TestStatementRunsWhileAnotherOfItsTextDoes(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	write(t, w, func(ctx context.Context, tx *ent.Tx) {
		const query = "SELECT slug FROM organizations ORDER BY slug"
		var read []string
		outer, err := tx.QueryContext(ctx, query)
		must(t, err)
		for outer.Next() {
			var slug string
			must(t, outer.Scan(&slug))
			read = append(read, slug)
			inner, err := tx.QueryContext(ctx, query)
			must(t, err)
			for inner.Next() {
				must(t, inner.Scan(&slug))
				read = append(read, slug)
			}
			must(t, errors.Join(inner.Err(), inner.Close()))
		}
		must(t, errors.Join(outer.Err(), outer.Close()))
		if got, want := strings.Join(read, " "), "acme acme globex globex acme globex"; got != want {
			t.Errorf("read %s, want %s", got, want)
		}
	})
}

func TestPragmaTakesEffectEachTime(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for _, size := range []string{"100", "200", "100"} {
		write(t, w, func(ctx context.Context, tx *ent.Tx) {
			_, err := tx.ExecContext(ctx, "PRAGMA cache_size = "+size)
			must(t, err)
			rows, err := tx.QueryContext(ctx, "PRAGMA cache_size")
			must(t, err)
			var got string
			for rows.Next() {
				must(t, rows.Scan(&got))
			}
			must(t, errors.Join(rows.Err(), rows.Close()))
			if got != size {
				t.Errorf("%s, want %s", got, size)
			}
		})
	}
}

func TestPreparedStatementsAreBoundedAndClosed(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	s, err := store.Open(t.Context(), store.Config{URL: url})
	must(t, err)
	ctx := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System})
	for n := range store.MaxPrepared + 20 { // of another text each
		_, err := s.Client.Organization.Query().Where(organization.IDIn(make([]string, n)...)).All(ctx)
		must(t, err)
	}
	if n, err := store.Prepared(ctx, s); n != store.MaxPrepared || err != nil {
		t.Errorf("%d are kept, %v, want %d", n, err, store.MaxPrepared)
	}
	must(t, s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error { return writeOrganization(ctx, tx, "a") }))
	must(t, s.Close())
	// A statement that were left would keep the file open, and its -wal.
	if _, err := os.Stat(strings.TrimPrefix(url, "sqlite:") + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the -wal is there after the end: %v", err)
	}
}
