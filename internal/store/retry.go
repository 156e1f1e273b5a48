package store

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstWait = 10 * time.Millisecond
	mostWait  = 500 * time.Millisecond
	// patience is how long a transaction or a read is tried again.
	patience = 10 * time.Second
)

// attempts are those at one transaction or one read.
type attempts struct {
	wait time.Duration
	end  time.Time
}

// newAttempts returns attempts for as long as patience lasts, or the caller's deadline, of which a fifth is
// left for the last one: who waits to the end learns that the database is away, and not that time ran out.
func newAttempts(ctx context.Context) *attempts {
	now, most := time.Now(), patience
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, deadline.Sub(now)*4/5)
	}
	return &attempts{wait: firstWait, end: now.Add(most)}
}

// next waits until it is time for one more attempt, and reports whether there is to be one.
func (a *attempts) next(ctx context.Context) bool {
	wait := a.wait/2 + rand.N(a.wait) //nolint:gosec // jitter is no secret
	a.wait = min(2*a.wait, mostWait)
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
