package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"slipway/ent"
)

// Probe reports whether a transaction whose COMMIT lost its answer was committed, by looking for an id
// that it writes.
type Probe func(ctx context.Context, c *ent.Client) (bool, error)

// Tx runs f in one transaction, and again from the start while the database says that it may succeed.
// Ids and times are to be drawn outside f, and f is to use nothing but its transaction. An INSERT is sent with
// those after it, when f asks for something else or returns, and its error comes from there (see pendingInserts).
// Tx returns what f returns, the error of what was sent after it, ServerUnavailable where the database cannot serve,
// and ctx.Err() where the caller has gone.
func (s *Store) Tx(ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx) error) error {
	return s.TxAt(ctx, committed, func(ctx context.Context, tx *ent.Tx, _ time.Time) error { return f(ctx, tx) })
}

// TxAt is Tx whose function is called with the time at which the transaction began by the database's clock, the
// zero time on SQLite.
func (s *Store) TxAt(ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx, at time.Time) error) error {
	for tries := newAttempts(ctx); ; {
		err := s.runTx(ctx, f)
		if errors.Is(err, errCommit) && isRetryable(err) {
			var done bool
			if done, err = s.probe(ctx, tries, committed, err); done {
				err = nil
			}
		}
		if err == nil || errors.Is(err, errUnknown) || !isRetryable(err) || !tries.next(ctx) {
			s.storage.recordWrite(ctx, err)
			return s.storage.publicError(ctx, err)
		}
	}
}

var (
	// errCommit marks the failure of a COMMIT: the transaction may have been committed all the same.
	errCommit = errors.New("commit")
	// errUnknown marks a transaction of which nobody can be asked whether it was committed. It is not run again.
	errUnknown = errors.New("the answer to COMMIT was lost and the database cannot be asked")
)

func (s *Store) runTx(ctx context.Context, f func(context.Context, *ent.Tx, time.Time) error) error {
	var at time.Time
	var inserts pendingInserts
	tx, err := s.Client.BeginTx(withPending(withBeginTime(ctx, &at), &inserts), nil)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned { // f panics, and nobody else would end the transaction
			_ = tx.Rollback()
		}
	}()
	err = f(ctx, tx, at)
	returned = true
	if err != nil {
		return rollBack(tx, err)
	}
	if err := inserts.send(ctx); err != nil {
		return rollBack(tx, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// probe reports whether the transaction whose COMMIT failed with lost was committed. Where it was not, the error
// is lost; where that stays unknown, it is errUnknown.
func (s *Store) probe(ctx context.Context, tries *attempts, committed Probe, lost error) (bool, error) {
	for {
		done, err := committed(ctx, s.Client)
		if err == nil {
			return done, lost
		}
		if !tries.next(ctx) {
			return false, errors.Join(errUnknown, err)
		}
	}
}

// rollBack rolls a transaction back that failed with err, and returns err with what went wrong meanwhile.
func rollBack(tx interface{ Rollback() error }, err error) error {
	if end := tx.Rollback(); end != nil {
		return errors.Join(err, fmt.Errorf("rollback: %w", end))
	}
	return err
}

const (
	firstWait = 10 * time.Millisecond
	maxWait   = 500 * time.Millisecond
	// maxRetryTime is how long a transaction or a read is tried again.
	maxRetryTime = 10 * time.Second
)

// attempts are those at one transaction or one read.
type attempts struct {
	wait time.Duration
	end  time.Time
}

// newAttempts returns attempts for as long as maxRetryTime, or the caller's deadline, of which a fifth is
// left for the last one: who waits to the end learns that the database is away, and not that time ran out.
func newAttempts(ctx context.Context) *attempts {
	now, most := time.Now(), maxRetryTime
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, deadline.Sub(now)*4/5)
	}
	return &attempts{wait: firstWait, end: now.Add(most)}
}

// next waits until it is time for one more attempt, and reports whether there is to be one.
func (a *attempts) next(ctx context.Context) bool {
	wait := a.wait/2 + rand.N(a.wait) //nolint:gosec // jitter is no secret
	a.wait = min(2*a.wait, maxWait)
	if ctx.Err() != nil || time.Now().Add(wait).After(a.end) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}
