package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"slipway/internal/fault"
)

const (
	failureWindow = time.Minute
	maxAddresses  = 10_000
	// queueTime is how long a look-up waits for its turn, and maxWaiting how many of one address may wait.
	queueTime  = time.Second
	maxWaiting = 1000
)

// limiter counts the failed authentications of each client address, and bounds how many of the address's
// look-ups run at once accordingly. In an attack from more than maxAddresses it forgets the addresses whose last
// failure is the oldest, so memory stays bounded.
type limiter struct {
	maxFailures int
	now         func() time.Time

	mu       sync.Mutex
	failures *lru.Cache[netip.Prefix, []time.Time]
	queues   map[netip.Prefix]*queue // of the addresses that have a look-up
}

// queue has the look-ups of one address. As many run at once as the address has failures left, and always one;
// the others wait in order.
type queue struct {
	running int
	waiting []chan struct{} // each is closed when its turn has come
}

func newLimiter(maxFailures int, now func() time.Time) *limiter {
	return &limiter{
		maxFailures: maxFailures, now: now,
		failures: newCache[netip.Prefix, []time.Time](maxAddresses), queues: map[netip.Prefix]*queue{},
	}
}

// acquire waits until the address may look a token up. Unless it returns an error, release must follow.
func (l *limiter) acquire(ctx context.Context, address netip.Prefix) error {
	turn, err := l.enqueue(address)
	if err != nil {
		return err
	}
	timer := time.NewTimer(queueTime)
	defer timer.Stop()
	select {
	case <-turn:
		return nil
	case <-timer.C:
		err = l.errQueueFull(address)
	case <-ctx.Done():
		err = fmt.Errorf("auth: wait to verify a token: %w", context.Cause(ctx))
	}
	if !l.dequeue(address, turn) {
		l.release(address) // the turn came just now
	}
	return err
}

// enqueue returns the channel that is closed when the address's turn has come.
func (l *limiter) enqueue(address netip.Prefix) (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[address]
	if q == nil {
		q = &queue{}
		l.queues[address] = q
	}
	if len(q.waiting) == maxWaiting {
		return nil, l.errQueueFull(address)
	}
	turn := make(chan struct{})
	q.waiting = append(q.waiting, turn)
	l.startWaiting(address, q)
	return turn, nil
}

// dequeue removes a waiting turn, and reports whether it was still waiting.
func (l *limiter) dequeue(address netip.Prefix, turn <-chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[address]
	i := slices.IndexFunc(q.waiting, func(other chan struct{}) bool { return other == turn })
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// release ends a look-up and starts those that wait for it.
func (l *limiter) release(address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[address]
	q.running--
	l.startWaiting(address, q)
	if q.running == 0 {
		delete(l.queues, address)
	}
}

// startWaiting starts as many of the waiting look-ups as may run. One may always run, so nothing waits in a
// queue of which nothing runs.
func (l *limiter) startWaiting(address netip.Prefix, q *queue) {
	maxRunning := max(1, l.maxFailures-len(l.recentFailures(address, l.now())))
	for q.running < maxRunning && len(q.waiting) > 0 {
		close(q.waiting[0])
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		q.running++
	}
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
	times := append(l.recentFailures(address, now), now)
	// Of more than the limit allows, the oldest change nothing.
	l.failures.Add(address, times[max(0, len(times)-l.maxFailures):])
}

// recentFailures returns the times of an address's failures within the window, oldest first.
func (l *limiter) recentFailures(address netip.Prefix, now time.Time) []time.Time {
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
		"Too many tokens from %s wait to be looked up, which is done one at a time after %d failed authentications within a minute (--max-failed-authentications). Try again in %d s.",
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
	times := l.recentFailures(address, now)
	var reset time.Duration
	if len(times) > 0 {
		reset = times[0].Add(failureWindow).Sub(now)
	}
	h.Set("RateLimit-Limit", strconv.Itoa(l.maxFailures))
	h.Set("RateLimit-Remaining", strconv.Itoa(l.maxFailures-len(times)))
	h.Set("RateLimit-Reset", strconv.Itoa(int((reset+time.Second-1)/time.Second)))
}
