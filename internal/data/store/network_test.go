package store_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/project"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestLostAnswerToCommitIsFoundOut(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p, through := newProxy(t, w.DatabaseURL)
	far := worldtest.Another(t, through)
	place := w.Fixture(t, w.Acme, "web")
	target := place.Succeeded(t)
	p.loseCommits(1)
	ctx := w.Acme.As(actor.Developer)
	made, _, err := far.Deploy.Propose.Rollback(ctx, propose.Replay{SourceID: target.ID})
	if err != nil {
		t.Fatalf("rollback: %v", err)
	}
	active := w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(ctx)
	if len(active) != 1 || active[0].ID != made.ID {
		t.Errorf("active are %v, want the answered %s only", active, made.ID)
	}
	if n := w.Store.Client.Deployment.Query().CountX(ctx); n != 2 {
		t.Errorf("%d deployments, want the target and its rollback", n)
	}
	if p.commits.Load() > 0 {
		t.Error("no COMMIT lost its answer")
	}
}

// The server is still at work on the last statement, with which COMMIT was sent, when its client loses the connection: it
// is not known what becomes of the transaction before that has ended.
func TestTransactionThatTheServerIsStillAtWorkOnIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// end ends the transaction that the other waits for.
		end func(*ent.Tx) error
		// runs is how often the function runs.
		runs int
	}{
		"it is committed": {(*ent.Tx).Rollback, 1},
		// It is run again, and refused.
		"it is rolled back": {(*ent.Tx).Commit, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Postgres(t))
			p, through := newProxy(t, w.DatabaseURL)
			far := worldtest.Another(t, through)
			ctx := w.Acme.As(actor.Admin)
			// Nobody else may have the slug until this one has ended.
			blocker, err := w.Store.Client.Tx(ctx)
			must(t, err)
			must(t, newProject(ctx, blocker, w.Acme.ID, "web"))
			projectID, runs := id.New(id.Project), 0
			committed := func(ctx context.Context, c *ent.Client) (bool, error) {
				return c.Project.Query().Where(project.ID(projectID)).Exist(ctx)
			}
			p.leaveCommits(1)
			done := make(chan error, 1)
			go func() {
				done <- far.Store.Tx(ctx, committed, func(ctx context.Context, tx *ent.Tx) error {
					runs++
					if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = '1min'"); err != nil {
						return err
					}
					return tx.Project.Create().SetID(projectID).SetOrganizationID(w.Acme.ID).SetName("web").SetSlug("web").
						SetCreatedAt(store.Now()).SetUpdatedAt(store.Now()).Exec(ctx)
				})
			}()
			testkit.Eventually(t, "somebody waits for the transaction", func() bool {
				const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
				return alone(ctx, w.Store, waiting) == "1"
			})
			must(t, c.end(blocker))
			err = <-done
			if refused := store.IsUniqueViolation(err); refused != (name == "it is rolled back") || err != nil && !refused {
				t.Error(err)
			}
			if n := len(slugs(ctx, w.Store.Client)); n != 1 || runs != c.runs {
				t.Errorf("%d projects after %d runs, want 1 after %d", n, runs, c.runs)
			}
		})
	}
}

func TestWritesOutliveTheirConnections(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p, through := newProxy(t, w.DatabaseURL)
	far := worldtest.Another(t, through)
	ctx := w.Acme.As(actor.Admin)
	runs := 0
	err := far.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		must(t, look(ctx, tx))
		if runs++; runs == 1 {
			p.Cut()
		}
		return newProject(ctx, tx, w.Acme.ID, "web")
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, %v", runs, err)
	}
	if got := slugs(ctx, w.Store.Client); len(got) != 1 {
		t.Errorf("projects %q, want one", got)
	}
}

func TestTransactionIsNotContinuedWithoutItsFirstStatement(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	far, p := behindProxy(t, w, store.Filter)
	ctx := w.Acme.As(actor.Admin)
	runs := 0
	err := far.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
		runs++
		if runs == 1 {
			p.refuse(everyone)
		}
		if err := look(ctx, tx); (err == nil) != (runs > 1) {
			t.Errorf("run %d: %v", runs, err)
		}
		if runs == 1 {
			p.refuse(0)
		}
		return newProject(ctx, tx, w.Acme.ID, "web")
	})
	if n := len(slugs(ctx, w.Store.Client)); err != nil || n != 1 || runs != 2 {
		t.Errorf("%d projects after %d runs, %v, want 1 after 2", n, runs, err)
	}
}

func TestServerIsUnavailableWhileItIsSilent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	for name, isolation := range map[string]store.Isolation{"filter": store.Filter, "strict": store.Strict} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, through := newProxy(t, w.DatabaseURL)
			far := worldtest.Another(t, through, func(c *store.Config) { c.Isolation = isolation })
			ctx := w.Acme.As(actor.Admin)
			for name, call := range map[string]func() error{
				"read": func() error { return second(far.Store.Client.Project.Query().All(ctx)) },
				"write": func() error {
					return far.Store.Tx(ctx, never, func(ctx context.Context, tx *ent.Tx) error {
						return newProject(ctx, tx, w.Acme.ID, "lost")
					})
				},
			} {
				resume := p.silence()
				if err := answered(t, call); !fault.Is(err, fault.ServerUnavailable) {
					t.Errorf("%s: %v, want ServerUnavailable", name, err)
				}
				resume()
			}
			if got, err := far.Store.Client.Project.Query().All(ctx); err != nil || len(got) != 0 {
				t.Errorf("when it speaks again: %d projects, %v", len(got), err)
			}
		})
	}
}

func TestStatementsThatTakeTooLongAreEnded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	runs := 0
	err := w.Store.Tx(w.Acme.As(actor.Admin), never, func(ctx context.Context, tx *ent.Tx) error {
		runs++
		rows, err := tx.QueryContext(ctx, "SELECT pg_sleep(60)")
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return rows.Close()
	})
	if !fault.Is(err, fault.ServerUnavailable) || pq.As(err, pqerror.QueryCanceled) == nil || runs != 1 {
		t.Errorf("%d runs, %v, want ServerUnavailable because the server has ended it", runs, err)
	}
}

// answered returns what a call fails with, and fails the test if it hangs.
func answered(t *testing.T, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("there is no answer")
		return nil
	}
}

// late is a context whose deadline has passed and whose timer fires when somebody waits for it.
type late struct {
	context.Context
	fire context.CancelFunc
}

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Microsecond), true }

func (l late) Done() <-chan struct{} {
	l.fire()
	return l.Context.Done()
}

func TestTheNetworksEndOfACallersTimeIsTheCallers(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	ending, fire := context.WithCancel(t.Context())
	if err := store.PublicError(late{ending, fire}, dial); err == nil || !errors.Is(err, ending.Err()) {
		t.Errorf("after the deadline: %v", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for what, ctx := range map[string]context.Context{"before the deadline": soon, "without one": t.Context()} {
		if err := store.PublicError(ctx, dial); !fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
