package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"slipway/ent"
	"slipway/internal/base/fault"
	"slipway/internal/data/store"
)

// ErrChanged is returned by a write that finds that somebody else has changed what it goes by.
var ErrChanged = errors.New("journal: what was read has changed meanwhile")

const (
	// maxTries is how often something is tried that somebody else is always quicker at.
	maxTries = 20
	// maxWait is how long the last try waits at most; the first waits a twentieth of it.
	maxWait = 100 * time.Millisecond
)

// RetryWhileChanged calls f, and again while it returns ErrChanged: each time f looks at everything anew. Before it
// tries again it waits for a random time, so that not all who were late come back at once. After 20 tries it fails with
// ServerUnavailable.
func RetryWhileChanged(ctx context.Context, f func(context.Context) error) error {
	for tries := 1; ; tries++ {
		err := f(ctx)
		switch {
		case isAnswer(err) || !errors.Is(err, ErrChanged):
			return err
		case tries == maxTries:
			f := fault.New(fault.ServerUnavailable, "Others change the same record faster than this request can.")
			f.Metadata = map[string]any{"retryAfterSeconds": 1}
			return f.WithCause(err)
		}
		select {
		case <-time.After(rand.N(maxWait * time.Duration(tries) / maxTries)): //nolint:gosec // it need not be secret
		case <-ctx.Done():
			return fmt.Errorf("journal: to try again: %w", ctx.Err())
		}
	}
}

// isAnswer reports whether an error is a fault, also one of a retry within this one that has given up.
func isAnswer(err error) bool {
	var answer *fault.Error
	return errors.As(err, &answer)
}

// WriteLatest is Write, and again while somebody else was quicker: if f returns ErrChanged, if an update of f that
// compares a version finds no row, or if the database refuses a row of f because of another. A fault is an answer,
// whatever caused it.
func (j *Journal) WriteLatest(ctx context.Context, action string, f WriteFunc) error {
	return RetryWhileChanged(ctx, func(ctx context.Context) error {
		err := j.Write(ctx, action, f)
		if !isAnswer(err) && (ent.IsNotFound(err) || store.IsUniqueViolation(err)) {
			return fmt.Errorf("%w: %w", ErrChanged, err)
		}
		return err
	})
}
