package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
	"slipway/internal/test/worldtest"
)

// everyone is more connections than any test makes.
const everyone = 1 << 30

var isolations = map[string]store.Isolation{"filter": store.Filter, "strict": store.Strict}

// behindProxy returns a world whose store reaches the database through a proxy.
func behindProxy(t *testing.T, w *worldtest.World, isolation store.Isolation) (*worldtest.World, *proxy) {
	t.Helper()
	p, through := newProxy(t, w.DatabaseURL)
	return worldtest.Another(t, through, func(c *store.Config) { c.Isolation = isolation }), p
}

// withProjects makes so many projects whose names are of a length.
func withProjects(t *testing.T, w *worldtest.World, n, length int) {
	t.Helper()
	name := strings.Repeat("n", length)
	err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		for i := range n {
			if err := newProject(ctx, tx, w.Acme.ID, fmt.Sprint(i, name)); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
}

// projectReads counts how often projects are read while f does.
func projectReads(w *worldtest.World, f func()) (n int) {
	for _, statement := range w.Statements(f) {
		statement = strings.ReplaceAll(statement, "`", `"`)
		if strings.HasPrefix(statement, "SELECT") && strings.Contains(statement, `FROM "projects"`) {
			n++
		}
	}
	return n
}

func TestReadsOutliveTheirConnections(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	const projects = 200
	withProjects(t, w, projects, 100)
	for name, isolation := range isolations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, p := behindProxy(t, w, isolation)
			for name, fail := range map[string]func(){
				"every connection is cut":             p.Cut,
				"the server is not there for a while": func() { p.refuse(10) },
				"an answer is cut before its rows":    func() { p.cutAnswer(40) },
				"an answer is cut among its rows":     func() { p.cutAnswer(4 << 10) },
			} {
				fail()
				found, err := far.Store.Client.Project.Query().All(w.Acme.As(actor.Viewer))
				if err != nil || len(found) != projects {
					t.Errorf("%s: %d projects, %v", name, len(found), err)
				}
			}
		})
	}
}

func TestReadIsNotTriedAgainOnceItsFirstRowsWereHandedOut(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	withProjects(t, w, 300, 1000)
	for name, isolation := range isolations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, p := behindProxy(t, w, isolation)
			p.cutAnswer(200 << 10)
			var err error
			n := projectReads(far, func() { _, err = far.Store.Client.Project.Query().All(w.Acme.As(actor.Viewer)) })
			if n != 1 || !fault.Is(err, fault.ServerUnavailable) {
				t.Errorf("%d reads, %v, want ServerUnavailable after one", n, err)
			}
		})
	}
}

func TestReadInATransactionIsNotTriedAgainByItself(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	far, p := behindProxy(t, w, store.Filter)
	runs, failed := 0, 0
	n := projectReads(far, func() {
		err := far.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
			must(t, look(ctx, tx))
			if runs++; runs == 1 {
				p.Cut()
			}
			_, err := tx.Project.Query().All(ctx)
			if err != nil {
				failed++
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if runs != 2 || failed != 1 || n != 4 {
		t.Errorf("%d runs, %d reads, %d of which failed; want 2, 4 and 1", runs, n, failed)
	}
}

func TestReadsOfADatabaseThatIsAwayAreUnavailableBeforeTheirDeadline(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	for name, isolation := range isolations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, p := behindProxy(t, w, isolation)
			p.refuse(everyone)
			for name, call := range map[string]func(context.Context) error{
				"read": func(ctx context.Context) error { return second(far.Store.Client.Project.Query().All(ctx)) },
				"write": func(ctx context.Context) error {
					return far.Store.Tx(ctx, never, look)
				},
			} {
				ctx, cancel := context.WithTimeout(w.Acme.As(actor.Admin), 5*time.Second)
				if err := call(ctx); !fault.Is(err, fault.ServerUnavailable) {
					t.Errorf("%s: %v, want ServerUnavailable before the deadline", name, err)
				}
				cancel()
			}
			p.refuse(0)
			if err := second(far.Store.Client.Project.Query().All(w.Acme.As(actor.Viewer))); err != nil {
				t.Errorf("when it is back: %v", err)
			}
		})
	}
}

func TestReadsAreNotTriedAgainInVain(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Viewer)
		where := func(condition string) func() error {
			return func() error {
				var rows []struct{ ID string }
				return w.Store.Client.Project.Query().Modify(func(s *sql.Selector) { s.Where(sql.ExprP(condition)) }).Scan(ctx, &rows)
			}
		}
		calls := map[string]func() error{"no such column": where("no_such_column = 1")}
		if !strings.HasPrefix(w.DatabaseURL, "sqlite:") {
			withProjects(t, w, 1, 1)
			calls["too long"] = where("pg_sleep(60) IS NOT NULL")
		}
		for name, call := range calls {
			var err error
			if n := projectReads(w, func() { err = call() }); n != 1 || err == nil {
				t.Errorf("%s: %d reads, %v", name, n, err)
			}
			if fault.Is(err, fault.ServerUnavailable) != (name == "too long") {
				t.Errorf("%s: %v", name, err)
			}
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		if err := second(w.Store.Client.Project.Query().All(gone)); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone gets %v", err)
		}
	})
}
