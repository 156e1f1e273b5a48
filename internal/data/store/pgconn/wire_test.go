package pgconn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lib/pq"

	"slipway/internal/data/store/pgconn"
	"slipway/internal/test/pgtest"
)

// unwatchable fails the test where somebody waits for the end of the context.
type unwatchable struct {
	context.Context
	t *testing.T
}

func (u unwatchable) Done() <-chan struct{} {
	u.t.Error("the context is watched")
	return u.Context.Done()
}

func TestNobodyWatchesTheContextOfAStatement(t *testing.T) {
	t.Parallel()
	cancellable, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := unwatchable{cancellable, t}
	c, err := pq.NewConnector(pgtest.URL(t))
	must(t, err)
	c.Dialer(pgconn.Dialer{Timeout: forever})
	conn, err := pgconn.Connect(t.Context(), c, some, nil)
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	for range 3 {
		must(t, conn.BeginWith(ctx, false, "SELECT clock_timestamp(), $1::text", "x"))
		for range 3 {
			rows, err := conn.QueryContext(ctx, "SELECT $1::text", named("x"))
			must(t, err)
			must(t, rows.Close())
			_, err = conn.ExecContext(ctx, "SELECT $1::text || 'y'", named("x"))
			must(t, err)
			_, err = conn.ExecContext(ctx, "SELECT 1", nil)
			must(t, err)
		}
		must(t, conn.Commit())
		must(t, conn.Ping(ctx))
	}
}

func TestStatementEndsByTheDeadlineOfItsContext(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]int{"as it is": 0, "prepared": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, some)
			for range prepare {
				_, err := values(t.Context(), w, "SELECT $1::text", "x")
				must(t, err)
			}
			w.silence(t)
			// The wire alone would wait for an hour.
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := values(pgconn.Unwatched(ctx), w, "SELECT $1::text", "x")
			// The wire may be first by a hair: its timer is another than the context's.
			if deadline, _ := ctx.Deadline(); err == nil || time.Now().Before(deadline) {
				t.Errorf("%v, before the deadline %s", err, deadline)
			}
		})
	}
}

func TestStatementIsNotSentOnceItsContextHasEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	expect(t, w, "x", "SELECT $1::text", "x")
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := w.BeginTx(t.Context(), nil)
	must(t, err)
	cancel()
	n := w.trips(func() {
		if _, err := values(pgconn.Unwatched(ctx), tx, "SELECT $1::text", "x"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	if n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	must(t, tx.Commit())
}

func TestConnectionIsClosedInOrderAfterTheDeadlineOfItsLastStatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	conn, err := w.Conn(t.Context())
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = values(pgconn.Unwatched(ctx), conn, "SELECT $1::text", "x")
	must(t, err)
	over, stop := context.WithTimeout(t.Context(), 2*time.Second) // of what it is allowed besides, too
	defer stop()
	<-over.Done()
	must(t, conn.Raw(func(c any) error { return c.(*pgconn.Conn).Close() }))
	_ = conn.Close() // the pool closes it once more
}

func TestStatementOfWhoHasLeftIsFinishedAndItsConnectionKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, some)
	session := func() any {
		got, err := values(t.Context(), w, "SELECT pg_backend_pid()")
		must(t, err)
		return got[0]
	}
	before := session()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if got, err := values(pgconn.Unwatched(ctx), w, "SELECT 'slept' FROM (SELECT pg_sleep($1)) s", 0.1); err != nil || got[0] != "slept" {
		t.Errorf("%v, %v", got, err)
	}
	if ctx.Err() == nil {
		t.Error("nobody has left")
	}
	if session() != before {
		t.Error("the connection was given up")
	}
}
