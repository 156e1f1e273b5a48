package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"slipway/ent"
)

// Probe asks whether a transaction whose COMMIT lost its answer was committed, by looking for an id
// that it writes.
type Probe func(ctx context.Context, c *ent.Client) (bool, error)

// Tx runs f in one transaction, and again from the start while the database says that it may succeed.
// Ids and times are to be drawn outside f, and f is to use nothing but its transaction. Tx returns what
// f returns, ServerUnavailable where the database cannot serve, and ctx.Err() where the caller has gone.
func (s *Store) Tx(ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx) error) error {
	return s.TxAt(ctx, committed, func(ctx context.Context, tx *ent.Tx, _ time.Time) error { return f(ctx, tx) })
}

// TxAt is Tx whose function is told when the transaction began by the database's clock, the zero time on SQLite.
func (s *Store) TxAt(ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx, at time.Time) error) error {
	for tries := newAttempts(ctx); ; {
		err := s.attempt(ctx, f)
		if errors.Is(err, errCommit) && isRetryable(err) {
			var done bool
			if done, err = s.probe(ctx, tries, committed, err); done {
				err = nil
			}
		}
		if err == nil || errors.Is(err, errUnknown) || !isRetryable(err) || !tries.next(ctx) {
			s.storage.wrote(ctx, err)
			return s.storage.publicError(ctx, err)
		}
	}
}

// errCommit marks the failure of a COMMIT: the transaction may have been committed all the same.
var errCommit = errors.New("commit")

func (s *Store) attempt(ctx context.Context, f func(context.Context, *ent.Tx, time.Time) error) error {
	var at time.Time
	tx, err := s.Client.BeginTx(noteBeginning(ctx, &at), nil)
	if err != nil {
		return err
	}
	if err := f(ctx, tx, at); err != nil {
		return rolledBack(tx, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// probe says whether the transaction was committed; where that cannot be told now, it gives the error
// to try again with.
func (s *Store) probe(ctx context.Context, tries *attempts, committed Probe, lost error) (bool, error) {
	for {
		done, err := committed(ctx, s.Client)
		if err == nil {
			return done, lost
		}
		if !tries.next(ctx) {
			// Whether it was committed stays unknown: not to be tried again.
			return false, errors.Join(errUnknown, err)
		}
	}
}

var errUnknown = errors.New("the answer to COMMIT was lost and the database cannot be asked")

func rolledBack(tx interface{ Rollback() error }, err error) error {
	if end := tx.Rollback(); end != nil {
		return errors.Join(err, fmt.Errorf("rollback: %w", end))
	}
	return err
}
