package store_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// setting runs a PRAGMA on the connection that writes to a SQLite database.
func setting(ctx context.Context, t *testing.T, s *store.Store, pragma string) {
	t.Helper()
	must(t, s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		_, err := tx.ExecContext(ctx, "PRAGMA "+pragma)
		return err
	}))
}

// newOrganization writes what needs more pages than a full database has, and counts how often it is tried.
func newOrganization(ctx context.Context, s *store.Store) (runs int, err error) {
	err = s.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		runs++
		key := id.New(id.Organization)
		return tx.Organization.Create().SetID(key).SetName(strings.Repeat("n", 100_000)).SetSlug(key).
			SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
	})
	return runs, err
}

func TestWritesThatTheStorageDoesNotTakeAreUnavailableAtOnceAndReadsGoOn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	ctx := w.Acme.As(actor.Admin)
	for _, c := range []struct{ name, fails, mends, says string }{
		{"full", "max_page_count = 1", "max_page_count = 1000000", "its disk is full"},
		{"read-only", "query_only = 1", "", "it takes no writes"},
	} {
		name := c.name
		setting(ctx, t, w.Store, c.fails)
		runs, err := newOrganization(ctx, w.Store)
		if runs > 1 || !fault.Is(err, fault.ServerUnavailable) || !strings.Contains(err.Error(), c.says) || fault.IsFailure(err) {
			t.Errorf("%s: %d runs, %v, want ServerUnavailable after one at most, for the store alone to log", name, runs, err)
		}
		if !w.Store.WritesFail() {
			t.Errorf("%s: it is not said that writes fail", name)
		}
		if n, err := w.Store.Client.Organization.Query().Count(ctx); n == 0 || err != nil {
			t.Errorf("%s: read %d, %v", name, n, err)
		}
		if c.mends == "" { // on SQLite that takes another connection
			continue
		}
		setting(ctx, t, w.Store, c.mends)
		if _, err := newOrganization(ctx, w.Store); err != nil || w.Store.WritesFail() {
			t.Errorf("%s, mended: %v, writes fail: %t", name, err, w.Store.WritesFail())
		}
	}
}

func TestWhatIsRefusedOtherwiseIsNoFailureOfTheStorage(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
			if err := newProject(ctx, tx, w.Acme.ID, "web"); err != nil {
				return err
			}
			return newProject(ctx, tx, w.Acme.ID, "web")
		})
		if !store.IsUniqueViolation(err) || w.Store.WritesFail() {
			t.Errorf("%v, writes fail: %t", err, w.Store.WritesFail())
		}
	})
}

func TestDamagedFileIsUnavailable(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	withProjects(t, w, 100, 1000)
	var page, size int64
	db := w.Raw(t, w.Acme)
	must(t, db.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_master WHERE name = 'projects'").Scan(&page))
	must(t, db.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&size))
	must(t, db.Close())
	must(t, w.Store.Close())
	file, err := os.OpenFile(strings.TrimPrefix(w.DatabaseURL, "sqlite:"), os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xA5}, int(size)), (page-1)*size)
	must(t, err)
	must(t, file.Close())
	damaged := worldtest.Another(t, w.DatabaseURL)
	ctx := w.Acme.As(actor.Admin)
	for name, err := range map[string]error{
		"read": second(damaged.Store.Client.Project.Query().All(ctx)),
		"write": damaged.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			return newProject(ctx, tx, w.Acme.ID, "web")
		}),
	} {
		if !fault.Is(err, fault.ServerUnavailable) || !strings.Contains(err.Error(), "its file is damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, err := damaged.Store.Client.Organization.Query().Count(ctx); n == 0 || err != nil {
		t.Errorf("what is whole: %d, %v", n, err)
	}
}

func TestLogSaysOnceAMinuteThatTheStorageFails(t *testing.T) {
	t.Parallel()
	url := worldtest.SQLite(t)
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s, err := store.Open(t.Context(), store.Config{URL: url, Log: slog.New(slog.NewTextHandler(&log, nil))})
		must(t, err)
		defer func() { must(t, s.Close()) }()
		ctx := actor.With(t.Context(), &actor.Actor{Name: "test", Role: actor.System})
		lines := func() string {
			return fmt.Sprint(strings.Count(log.String(), "the storage of the database fails"), " ", strings.Count(log.String(), "takes writes again"))
		}
		expect := func(want string) {
			t.Helper()
			if got := lines(); got != want {
				t.Errorf("%s lines, want %s:\n%s", got, want, &log)
			}
		}
		setting(ctx, t, s, "max_page_count = 1")
		for range 20 {
			_, _ = newOrganization(ctx, s)
		}
		expect("1 0")
		<-time.After(time.Minute - 1)
		_, _ = newOrganization(ctx, s)
		expect("1 0")
		<-time.After(1)
		_, _ = newOrganization(ctx, s)
		_, _ = newOrganization(ctx, s)
		expect("2 0")
		setting(ctx, t, s, "max_page_count = 1000000") // a write that succeeds
		setting(ctx, t, s, "max_page_count = 1000000")
		expect("2 1")
	})
}
