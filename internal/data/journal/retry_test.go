package journal_test

import (
	"context"
	"errors"
	"testing"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/test/worldtest"
)

func TestRetryEndsWhereOthersAreAlwaysQuicker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		changes, want int
	}{{0, 1}, {1, 2}, {19, 20}, {20, 20}} {
		calls := 0
		err := journal.RetryWhileChanged(t.Context(), func(context.Context) error {
			if calls++; calls <= c.changes {
				return journal.ErrChanged
			}
			return nil
		})
		if calls != c.want || (err != nil) != (c.changes == 20) {
			t.Errorf("%d changes: %d calls, %v", c.changes, calls, err)
		}
		if err != nil && !fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("%v, want %s", err, fault.ServerUnavailable)
		}
	}
}

// One that gives up within another one is not begun again by that.
func TestRetryWithinAnotherIsNotMultiplied(t *testing.T) {
	t.Parallel()
	calls := 0
	err := journal.RetryWhileChanged(t.Context(), func(ctx context.Context) error {
		return journal.RetryWhileChanged(ctx, func(context.Context) error {
			calls++
			return journal.ErrChanged
		})
	})
	if calls != 20 || !fault.Is(err, fault.ServerUnavailable) {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestRetryEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	calls := 0
	err := journal.RetryWhileChanged(ctx, func(context.Context) error {
		calls++
		leave()
		return journal.ErrChanged
	})
	if calls != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestWriteLatestLooksAgainButTakesARefusalForAnAnswer(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		ctx := w.Acme.As(actor.Admin)
		taken := id.New(id.Project)
		// write creates a project with ids in turn, of which the first is taken.
		write := func(refuse func(error) error) (runs int, err error) {
			ids := []string{taken, id.New(id.Project)}
			err = open(w).WriteLatest(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
				runs++
				return refuse(create(ctx, tx, e, ids[runs-1], w.Acme.ID))
			})
			return runs, err
		}
		if err := open(w).Write(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			return create(ctx, tx, e, taken, w.Acme.ID)
		}); err != nil {
			t.Fatal(err)
		}
		if runs, err := write(func(err error) error { return err }); runs != 2 || err != nil {
			t.Errorf("a row that is taken: %d runs, %v", runs, err)
		}
		runs, err := 0, open(w).WriteLatest(ctx, "createProject", func(context.Context, *ent.Tx, *journal.Entry) error { return &ent.NotFoundError{} })
		if !fault.Is(err, fault.ServerUnavailable) {
			t.Errorf("an update that never finds its version: %v", err)
		}
		err = open(w).WriteLatest(ctx, "createProject", func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			runs++
			_, err := tx.Project.Get(ctx, id.New(id.Project))
			return fault.New(fault.ProjectNotFound, "There is none.").WithCause(err)
		})
		if runs != 1 || !fault.Is(err, fault.ProjectNotFound) {
			t.Errorf("a refusal: %d runs, %v", runs, err)
		}
	})
}
