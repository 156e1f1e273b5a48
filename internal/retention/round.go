package retention

import (
	"context"
	"errors"
	"time"

	"slipway/ent"
	"slipway/ent/chore"
	"slipway/internal/actor"
	"slipway/internal/store"
)

const (
	// choreID is the id of the row by which the servers know when one of them has purged.
	choreID = "purge"
	// every is the time from the beginning of a purge to that of the next.
	every = time.Hour
	// abandonedAfter is how long nobody may have worked on a purge before another server takes it on.
	abandonedAfter = time.Minute
	// renewEvery is how long the note that this server works on it is good, before it is written again.
	renewEvery = 10 * time.Second
)

// errOvertaken reports that another server has begun to purge.
var errOvertaken = errors.New("another server has taken the purge on")

// round is a purge that this server has taken on.
type round struct {
	*Service
	began, renewed time.Time
}

// begin takes on the purge that is due, and returns nil where none is or another server is at it.
func (s *Service) begin(ctx context.Context) (r *round, err error) {
	err = s.Store.TxAt(actor.WithServer(ctx, ""), store.Repeatable, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
		r = nil
		last, err := tx.Chore.Get(ctx, choreID)
		if err != nil {
			return err
		}
		at := s.Journal.Shared(clock())
		// A clock that was set back is no reason to wait for it.
		if at.Sub(last.ResumedAt).Abs() < every || at.Sub(last.WorkedAt).Abs() < abandonedAfter {
			return nil
		}
		n, err := tx.Chore.Update().Where(chore.ID(choreID), chore.ResumedAt(last.ResumedAt), chore.WorkedAt(last.WorkedAt)).
			SetResumedAt(at).SetWorkedAt(at).Save(ctx)
		if n > 0 {
			r = &round{Service: s, began: at, renewed: s.Journal.Now()}
		}
		return err
	})
	return r, err
}

// renew notes now and then that the round goes on. It fails with errOvertaken where another server has begun one.
func (r *round) renew(ctx context.Context) error {
	if r.Journal.Now().Sub(r.renewed).Abs() < renewEvery {
		return nil
	}
	return r.Store.TxAt(actor.WithServer(ctx, ""), store.Repeatable, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
		n, err := tx.Chore.Update().Where(chore.ID(choreID), chore.ResumedAt(r.began)).SetWorkedAt(r.Journal.Shared(clock())).Save(ctx)
		if err == nil && n == 0 {
			return errOvertaken
		}
		r.renewed = r.Journal.Now()
		return err
	})
}
