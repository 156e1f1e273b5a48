package auth

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"slipway/internal/base/fault"
	"slipway/internal/base/turns"
	"slipway/internal/edge/quota"
)

const (
	failureWindow = time.Minute
	maxAddresses  = 10_000
	// queueTime is how long a look-up waits for its turn, and maxWaiting how many of one address may wait.
	queueTime  = time.Second
	maxWaiting = 1000
)

// limiter counts the failed authentications of each client address, and bounds how many of the address's
// look-ups run at once accordingly: as many as it has failures left, and always one. In an attack from more than
// maxAddresses it forgets the addresses whose last failure is the oldest, so memory stays bounded.
type limiter struct {
	maxFailures int
	now         func() time.Time
	lookups     *turns.Gate

	mu       sync.Mutex
	failures *lru.Cache[string, []time.Time] // by address
}

func newLimiter(maxFailures int, now func() time.Time) *limiter {
	l := &limiter{maxFailures: maxFailures, now: now, failures: newCache[string, []time.Time](maxAddresses)}
	l.lookups = turns.NewGate(turns.Limit{MaxOf: l.maxRunning, Wait: queueTime, Queue: maxWaiting})
	return l
}

// acquire waits until the address may look a token up. Unless it returns an error, release must be called after it.
func (l *limiter) acquire(ctx context.Context, address netip.Prefix) (release func(), err error) {
	release, err = l.lookups.Enter(ctx, address.String())
	if fault.Is(err, fault.RequestRateLimited) {
		return nil, l.errQueueFull(address)
	}
	return release, err
}

// maxRunning returns how many look-ups of an address may run at once.
func (l *limiter) maxRunning(address string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(1, l.maxFailures-len(l.recentFailures(address, l.now())))
}

// countResult counts a look-up that ended with err, nil or not.
func (l *limiter) countResult(address netip.Prefix, err error) {
	if errors.Is(err, ErrUnknownToken) {
		l.countFailure(address)
	}
}

func (l *limiter) countFailure(address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	times := append(l.recentFailures(address.String(), now), now)
	// Of more than the limit allows, the oldest change nothing.
	l.failures.Add(address.String(), times[max(0, len(times)-l.maxFailures):])
}

// recentFailures returns the times of an address's failures within the window, oldest first.
func (l *limiter) recentFailures(address string, now time.Time) []time.Time {
	times, _ := l.failures.Peek(address)
	for len(times) > 0 && now.Sub(times[0]) >= failureWindow {
		times = times[1:]
	}
	return times
}

// retryAfter is when to try again after errQueueFull, in seconds.
const retryAfter = 1

func (l *limiter) errQueueFull(address netip.Prefix) error {
	from := address.String()
	if address.IsSingleIP() {
		from = address.Addr().String()
	}
	e := fault.New(fault.RequestRateLimited,
		"Too many tokens from %s wait to be looked up, which is done one at a time "+
			"after %d failed authentications within a minute (--max-failed-authentications). Try again in %d s.",
		from, l.maxFailures, retryAfter)
	e.Metadata = map[string]any{"limit": "failedAuthentications", "value": l.maxFailures, "retryAfterSeconds": retryAfter}
	return e
}

// setHeaders sets the RateLimit headers: how many failures the address has left, and in how many seconds it has
// more.
func (l *limiter) setHeaders(h http.Header, address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	times := l.recentFailures(address.String(), now)
	var reset time.Duration
	if len(times) > 0 {
		reset = times[0].Add(failureWindow).Sub(now)
	}
	quota.SetHeaders(h, l.maxFailures, l.maxFailures-len(times), reset)
}
