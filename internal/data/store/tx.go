package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"entgo.io/ent/dialect"
	"github.com/lib/pq"

	"slipway/ent"
	"slipway/internal/base/tracing"
)

// Probe reports whether a transaction whose COMMIT lost its answer was committed, by looking for an id
// that it writes.
type Probe func(ctx context.Context, c *ent.Client) (bool, error)

// Repeatable is the Probe of a transaction that does no harm if it runs twice: it never reports a COMMIT.
func Repeatable(context.Context, *ent.Client) (bool, error) { return false, nil }

// Tx runs f in one transaction, and again from the start while the database says that it may succeed.
// Ids and times are to be drawn outside f, and f is to use nothing but its transaction. An INSERT is sent with
// those after it, when f asks for something else or returns, and its error comes from there (see pendingInserts).
// Tx returns what f returns, the error of what was sent after it, ServerUnavailable if the database cannot serve,
// and ctx.Err() if the caller has gone.
func (s *Store) Tx(ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx) error) error {
	return s.TxAt(ctx, committed, func(ctx context.Context, tx *ent.Tx, _ func() time.Time) error { return f(ctx, tx) })
}

// TxAt is Tx whose function is called with the transaction's clock, which returns when the transaction began by the
// database's clock, the zero time on SQLite. Asked before the first statement, it takes a round trip of its own.
func (s *Store) TxAt(
	ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error,
) error {
	ctx, span := tracing.Start(ctx, "transaction")
	err := s.retryTx(ctx, committed, f)
	span.End(err)
	return err
}

func (s *Store) retryTx(
	ctx context.Context, committed Probe, f func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error,
) error {
	lock := rand.Int64() //nolint:gosec // no secret, but one number of many
	for tries := newAttempts(ctx); ; {
		err := s.runTx(ctx, lock, f)
		if errors.Is(err, errCommit) && isRetryable(err) {
			var done bool
			if done, err = s.probe(ctx, tries, lock, committed, err); done {
				err = nil
			}
		}
		if err == nil || errors.Is(err, errUnknown) || !isRetryable(err) || !tries.next(ctx) {
			s.storage.recordWrite(ctx, err)
			return s.storage.publicError(ctx, err)
		}
	}
}

// ReadTx runs f in one transaction that only reads, as TxAt does: all that f reads is bound to the organization, and
// counted as work of the context's request. f must not write, and takes no lock that others wait for.
func (s *Store) ReadTx(
	ctx context.Context, f func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error,
) error {
	ctx, span := tracing.Start(ctx, "read transaction")
	lock := rand.Int64() //nolint:gosec // no secret, but one number of many
	for tries := newAttempts(ctx); ; {
		err := s.runReadTx(ctx, lock, f)
		if err == nil || !isRetryable(err) || !tries.next(ctx) {
			span.End(err)
			return s.storage.publicError(ctx, err)
		}
	}
}

func (s *Store) runReadTx(
	ctx context.Context, lock int64, f func(context.Context, *ent.Tx, func() time.Time) error,
) (err error) {
	run := &txRun{lock: lock}
	tx, err := s.Client.BeginTx(withRun(ctx, run), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	return f(ctx, tx, run.clock)
}

// txRun is one run of a transaction.
type txRun struct {
	// lock is the number of the lock that a transaction of PostgreSQL holds from its begin to its end.
	lock int64
	// creation is how it takes part in the creations of its organization.
	creation creationLock
	// tx is the transaction on PostgreSQL.
	tx *pooledTx
}

type (
	runKey  struct{}
	lastKey struct{}
)

// withRun has the transaction of PostgreSQL that is begun with the context be that of a run.
func withRun(ctx context.Context, r *txRun) context.Context {
	return context.WithValue(ctx, runKey{}, r)
}

// runOf returns the run that withRun was called with, or nil.
func runOf(ctx context.Context) *txRun {
	r, _ := ctx.Value(runKey{}).(*txRun)
	return r
}

// clock returns when the transaction began by the database's clock, the zero time on SQLite. If it cannot begin, the
// next statement fails.
func (r *txRun) clock() time.Time {
	if r.tx == nil {
		return time.Time{}
	}
	at, err := r.tx.began()
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// isLost reports whether a transaction that failed with err may have been committed, as COMMIT was sent with the
// statement that failed, which the server has not refused.
func (r *txRun) isLost(err error) bool { return r.tx != nil && r.tx.commits && pq.As(err) == nil }

// last returns a context for the last statement of a transaction, so that COMMIT takes no round trip of its own.
func last(ctx context.Context) context.Context { return context.WithValue(ctx, lastKey{}, lastKey{}) }

func isLast(ctx context.Context) bool {
	return ctx.Value(lastKey{}) != nil
}

var (
	// errCommit marks the failure of a COMMIT: the transaction may have been committed all the same.
	errCommit = errors.New("commit")
	// errUnknown marks a transaction of which nobody can be asked whether it was committed. It is not run again.
	errUnknown = errors.New("the answer to COMMIT was lost and the database cannot be asked")
)

func (s *Store) runTx(ctx context.Context, lock int64, f func(context.Context, *ent.Tx, func() time.Time) error) error {
	run := &txRun{lock: lock, creation: creationLockOf(ctx)}

	var inserts pendingInserts
	tx, err := s.Client.Begin(withPending(withRun(ctx, run), &inserts))
	if err != nil {
		return err
	}

	returned := false
	defer func() {
		if !returned { // f panics, and nobody else would end the transaction
			_ = tx.Rollback()
		}
	}()
	err = f(ctx, tx, run.clock)
	returned = true
	if err == nil {
		err = inserts.sendLast(ctx)
	}

	switch {
	case err == nil:
		err = tx.Commit()
		if err != nil {
			return fmt.Errorf("%w: %w", errCommit, err)
		}
		return nil
	case run.isLost(err):
		return fmt.Errorf("%w: %w", errCommit, rollBack(tx, err))
	default:
		return rollBack(tx, err)
	}
}

// probe reports whether the transaction whose COMMIT failed with lost was committed. If it was not, the error
// is lost; if that stays unknown, it is errUnknown.
func (s *Store) probe(ctx context.Context, tries *attempts, lock int64, committed Probe, lost error) (bool, error) {
	for {
		err := s.waitForEnd(ctx, lock)
		if err == nil {
			var done bool
			if done, err = committed(ctx, s.Client); err == nil {
				return done, lost
			}
		}
		if !tries.next(ctx) {
			return false, errors.Join(errUnknown, err)
		}
	}
}

// waitForEnd waits until the transaction that holds a lock has ended: the server may still be at work on one whose
// connection was lost.
func (s *Store) waitForEnd(ctx context.Context, lock int64) error {
	if s.dialect != dialect.Postgres {
		return nil
	}
	run := &txRun{lock: lock}
	tx, err := s.Client.Begin(withRun(ctx, run))
	if err != nil {
		return err
	}
	_, err = run.tx.began()
	return rollBack(tx, err)
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
