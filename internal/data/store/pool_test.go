package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// oneConnection is for a store of one connection, which shows where that is not given back.
func oneConnection(c *store.Config) { c.MaxConns = 1 }

func TestTransactionBeginsWithItsFirstStatementAndCommitsWithItsLast(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	for name, isolation := range isolations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, p := behindProxy(t, w, isolation)
			ctx := w.Acme.As(actor.Admin)
			insert := func(ctx context.Context, tx *ent.Tx) error { return newProject(ctx, tx, w.Acme.ID, rand.Text()) }
			var began time.Time
			for _, c := range []struct {
				name string
				want int64
				f    func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error
			}{
				{"nothing", 0, func(context.Context, *ent.Tx, func() time.Time) error { return nil }},
				{"the time", 2, func(_ context.Context, _ *ent.Tx, clock func() time.Time) error {
					began = clock()
					return nil
				}},
				{"a read", 2, func(ctx context.Context, tx *ent.Tx, _ func() time.Time) error { return look(ctx, tx) }},
				{"a read and the time", 2, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
					err := look(ctx, tx)
					began = clock()
					return err
				}},
				{"a read and a write", 2, func(ctx context.Context, tx *ent.Tx, _ func() time.Time) error {
					return errors.Join(look(ctx, tx), insert(ctx, tx))
				}},
				{"a write", 2, func(ctx context.Context, tx *ent.Tx, _ func() time.Time) error { return insert(ctx, tx) }},
			} {
				began = time.Time{}
				run := func() { _ = far.Store.TxAt(ctx, never, c.f) }
				for range 3 { // what it sends is prepared by then
					run()
				}
				if n := p.trips(run); n != c.want {
					t.Errorf("%s takes %d round trips, want %d", c.name, n, c.want)
				}
				if away := time.Since(began).Abs(); strings.Contains(c.name, "time") && away > time.Minute {
					t.Errorf("%s: it began at %s, which is %s away", c.name, began, away)
				}
			}
			read := func() { _ = second(far.Store.Client.Project.Query().All(ctx)) }
			read()
			read()
			want := map[store.Isolation]int64{store.Filter: 1, store.Strict: 2}[isolation]
			if n := p.trips(read); n != want {
				t.Errorf("a read takes %d round trips, want %d", n, want)
			}
		})
	}
}

func TestOrganizationIsQuotedAtTheBeginOfATransaction(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t), oneConnection)
	before := w.Rows(t)
	for _, id := range []string{
		"", " ", "'", "''", `\`, `\'`, `\\'`, `E'`, `x', true); DROP TABLE projects; --`, `\'; SELECT set_config('app.isolation', 'filter', true); --`,
		"$1", "$$", "%s", "ünï", "a\nb", "x'), pg_sleep(60), ('",
	} {
		ctx := actor.With(t.Context(), &actor.Actor{Name: "hostile", Role: actor.Admin, OrganizationID: id})
		for setting, want := range map[string]string{"app.org_id": id, "app.isolation": "strict"} {
			if got := alone(ctx, w.Store, "SELECT current_setting('"+setting+"')"); got != want {
				t.Errorf("%q: %s is %q, want %q", id, setting, got, want)
			}
		}
	}
	for id, want := range map[string]string{"a\x00b": "NUL", "\xff": "UTF8"} {
		ctx := actor.With(t.Context(), &actor.Actor{Name: "hostile", Role: actor.Admin, OrganizationID: id})
		err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error { return second(tx.ExecContext(ctx, "SELECT 1")) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want a word on %s", id, err, want)
		}
	}
	if after := w.Rows(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v, want %v", after, before)
	}
}

func TestConnectionIsGivenBackWhateverBecomesOfItsTransaction(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t), oneConnection)
	withProjects(t, w, 300, 1000)
	ctx := w.Acme.As(actor.Admin)
	leaving, leave := context.WithCancel(ctx)
	for name, use := range map[string]func(){
		"its function panics": func() {
			defer func() { _ = recover() }()
			_ = w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				must(t, look(ctx, tx))
				panic("in a transaction")
			})
		},
		"its rows are not closed": func() {
			err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				rows, err := tx.QueryContext(ctx, "SELECT name FROM projects") //nolint:rowserrcheck // which is tried
				if err == nil && !rows.Next() {
					t.Error("there are no rows")
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		},
		"its caller leaves": func() {
			err := w.Store.Tx(leaving, never, func(ctx context.Context, tx *ent.Tx) error {
				err := look(ctx, tx)
				leave()
				return err
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want context.Canceled", err)
			}
		},
		"a statement of it fails": func() {
			err := w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
				_, err := tx.ExecContext(ctx, "SELECT 1 / $1::int", 0)
				return err
			})
			if err == nil {
				t.Error("no error")
			}
		},
	} {
		use()
		if n, err := w.Store.Client.Project.Query().Count(ctx); n != 300 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		must(t, w.Store.Tx(ctx, never, look))
	}
}

func TestTransactionThatHasEndedRunsNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	tx, err := w.Store.Client.BeginTx(w.Acme.As(actor.Admin), nil)
	must(t, err)
	must(t, tx.Commit())
	for name, err := range map[string]error{
		"read": second(tx.Project.Query().All(w.Acme.As(actor.Viewer))), "write": newProject(w.Acme.As(actor.Admin), tx, w.Acme.ID, "late"),
		"commit": tx.Commit(), "rollback": tx.Rollback(),
	} {
		if !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("%s: %v, want sql.ErrTxDone", name, err)
		}
	}
}

func TestWhoWaitsForAConnectionWaitsAsLongAsTheirContext(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t), oneConnection)
	err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		must(t, look(ctx, tx))
		ctx, cancel := context.WithTimeout(w.Acme.As(actor.Admin), 20*time.Millisecond)
		defer cancel()
		for name, call := range map[string]func() error{
			"read":  func() error { return second(w.Store.Client.Project.Query().All(ctx)) },
			"write": func() error { return w.Store.Tx(ctx, never, look) },
		} {
			if err := answered(t, call); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v, want the end of the context", name, err)
			}
		}
		return nil
	})
	must(t, err)
}

// scanned calls whileScanning when it is read.
type scanned struct{}

var whileScanning func()

func (*scanned) Scan(any) error {
	whileScanning()
	return nil
}

func TestNoGoroutineWatchesAStatement(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	withProjects(t, w, 3, 1)
	ctx, cancel := context.WithCancel(w.Acme.As(actor.Admin))
	defer cancel()
	expectAlone := func(while string) {
		var profile bytes.Buffer
		must(t, pprof.Lookup("goroutine").WriteTo(&profile, 1))
		// Goroutines have the labels of that which started them.
		if n := strings.Count(profile.String(), `"watched":"`+t.Name()+`"`); n != 1 {
			t.Errorf("%s: %d goroutines, want one:\n%s", while, n, &profile)
		}
	}
	slugs(ctx, w.Store.Client) // which makes the connection
	pprof.Do(ctx, pprof.Labels("watched", t.Name()), func(ctx context.Context) {
		must(t, w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			expectAlone("a transaction")
			rows, err := tx.QueryContext(ctx, "SELECT name FROM projects")
			if err != nil {
				return err
			}
			rows.Next()
			expectAlone("the rows of a transaction")
			return errors.Join(rows.Err(), rows.Close())
		}))
		seen := 0
		var found []struct{ Slug scanned }
		whileScanning = func() { seen++; expectAlone("the rows of a read") }
		must(t, w.Store.Client.Project.Query().Select(project.FieldSlug).Scan(ctx, &found))
		if seen != 3 {
			t.Errorf("%d rows were looked at", seen)
		}
	})
}

func TestMigrationUnderAServerThatHasStatementsPrepared(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t), oneConnection)
	withProjects(t, w, 1, 1)
	ctx, db := w.Acme.As(actor.Admin), w.Raw(t, w.Acme)
	alter := func(statement string) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	readTwice := func() {
		t.Helper()
		for range 3 {
			if got := slugs(ctx, w.Store.Client); len(got) != 1 {
				t.Errorf("projects %q", got)
			}
			if _, err := w.Store.Client.Project.Query().First(ctx); err != nil {
				t.Error(err)
			}
		}
	}
	readTwice()
	alter("ALTER TABLE projects ALTER COLUMN slug TYPE varchar(300)")
	n := projectReads(w, readTwice)
	if n != 6 {
		t.Errorf("%d reads, want 6: those that were prepared are run again below", n)
	}
	write := func() (runs int) {
		t.Helper()
		must(t, w.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
			runs++
			p, err := tx.Project.Query().First(ctx)
			if err != nil {
				return err
			}
			return tx.Project.UpdateOne(p).SetName(fmt.Sprint("run ", runs)).Exec(ctx)
		}))
		return runs
	}
	for range 3 {
		write()
	}
	alter("ALTER TABLE projects ALTER COLUMN slug TYPE text")
	if runs := write(); runs != 2 {
		t.Errorf("the transaction took %d runs, want 2", runs)
	}
	if runs := write(); runs != 1 {
		t.Errorf("the next took %d", runs)
	}
	readTwice()
}

func TestPreparedStatementIsBoundToTheOrganizationOfEachTransaction(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t), oneConnection)
	mine, theirs := w.Fixture(t, w.Acme, "web").Succeeded(t), w.Fixture(t, w.Globex, "web").Succeeded(t)
	for range 10 { // of which PostgreSQL plans the first few each for itself
		for o, want := range map[*worldtest.Org]string{w.Acme: mine.ID, w.Globex: theirs.ID} {
			var found []string
			must(t, w.Store.Tx(o.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
				rows, err := tx.QueryContext(ctx, "SELECT id FROM deployments WHERE status = $1", "SUCCEEDED")
				if err != nil {
					return err
				}
				found = nil
				for rows.Next() {
					var id string
					if err := rows.Scan(&id); err != nil {
						return errors.Join(err, rows.Close())
					}
					found = append(found, id)
				}
				return errors.Join(rows.Err(), rows.Close())
			}))
			if len(found) != 1 || found[0] != want {
				t.Errorf("%s sees %q, want %q", o.ID, found, want)
			}
		}
	}
}
