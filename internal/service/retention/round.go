package retention

import (
	"context"
	"errors"
	"time"

	"slipway/ent"
	"slipway/ent/chore"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
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

// begin takes on the purge that is due, and returns nil if none is or another server is at it.
func (s *Service) begin(ctx context.Context) (r *round, err error) {
	err = s.Store.TxAt(actor.WithServer(ctx, ""), store.Repeatable,
		func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
			r = nil
			last, err := tx.Chore.Get(ctx, choreID)
			if err != nil {
				return err
			}
			at := s.Journal.Shared(clock())
			if !isDue(last, at) {
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

// isDue reports whether a purge may begin: the last one ended and began long enough ago, or its server works on it no
// longer. A clock that was set back is no reason to wait for it.
func isDue(last *ent.Chore, at time.Time) bool {
	if at.Sub(last.WorkedAt).Abs() < abandonedAfter {
		return false
	}
	ended := last.EndedAt != nil && !last.EndedAt.Before(last.ResumedAt)
	return !ended || at.Sub(last.ResumedAt).Abs() >= every
}

// renew notes now and then that the round goes on. It fails with errOvertaken if another server has begun one.
func (r *round) renew(ctx context.Context) error {
	if r.Journal.Now().Sub(r.renewed).Abs() < renewEvery {
		return nil
	}
	return r.Store.TxAt(actor.WithServer(ctx, ""), store.Repeatable,
		func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
			n, err := tx.Chore.Update().Where(chore.ID(choreID), chore.ResumedAt(r.began)).
				SetWorkedAt(r.Journal.Shared(clock())).Save(ctx)
			if err == nil && n == 0 {
				return errOvertaken
			}
			r.renewed = r.Journal.Now()
			return err
		})
}

// end notes that the round has ended, unless another server has begun one. The next is then due an hour after it began.
func (r *round) end(ctx context.Context) error {
	return r.Store.TxAt(actor.WithServer(ctx, ""), store.Repeatable,
		func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
			_, err := tx.Chore.Update().Where(chore.ID(choreID), chore.ResumedAt(r.began)).SetEndedAt(r.Journal.Shared(clock())).
				Save(ctx)
			return err
		})
}
