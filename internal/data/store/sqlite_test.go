package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"entgo.io/ent/dialect/sql"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

func TestSixtyFourWritersNeverMeetALock(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ctx := w.Acme.As(actor.Admin)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			runs := 0
			err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				runs++
				if _, err := tx.Project.Query().Count(ctx); err != nil {
					return err
				}
				return newProject(ctx, tx, w.Acme.ID, fmt.Sprint("p", i))
			})
			if err != nil || runs != 1 {
				t.Errorf("writer %d: %d runs, %v", i, runs, err)
			}
			// Readers do not wait for writers, nor they for them.
			if _, err := w.Store.Client.Project.Query().All(ctx); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if n := w.Store.Client.Project.Query().CountX(ctx); n != 64 {
		t.Errorf("%d projects", n)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ctx := w.Acme.As(actor.Admin)
	// A statement that comes as a query goes past ent's hooks; the pool itself has to refuse it.
	var names []struct{ Name string }
	err := w.Store.Client.Organization.Query().Modify(func(s *sql.Selector) {
		s.Prefix(sql.Raw("UPDATE organizations SET name = 'stolen' RETURNING name; "))
	}).Scan(ctx, &names)
	var refused *sqlite.Error
	if !errors.As(err, &refused) || refused.Code() != sqlite3.SQLITE_READONLY {
		t.Errorf("%v, want the database to refuse it", err)
	}
	if o := w.Store.Client.Organization.GetX(ctx, w.Acme.ID); o.Name != "acme" {
		t.Errorf("the organization is called %q now", o.Name)
	}
}

func TestFileIsServedByOneServer(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	first, err := store.Open(t.Context(), store.Config{URL: url, Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(t.Context(), store.Config{URL: url, Exclusive: true})
	if err == nil || !strings.Contains(err.Error(), "another server has "+url+" open") {
		t.Errorf("a second server: %v", err)
	}
	beside, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatalf("a tool beside the server: %v", err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := store.Open(t.Context(), store.Config{URL: url, Exclusive: true})
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}
