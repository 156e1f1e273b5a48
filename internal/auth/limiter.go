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

	"slipway/internal/fault"
)

const (
	failureWindow = time.Minute
	maxAddresses  = 10_000
	// laneWait is how long a look-up waits for its turn, and maxWaiting how many of one address do.
	laneWait   = time.Second
	maxWaiting = 1000
)

// limiter remembers when the authentications of each client address failed, and lets the address's
// look-ups go on accordingly. Under an attack from more than maxAddresses the failures of the longest quiet
// ones are forgotten, so memory stays bounded.
type limiter struct {
	most int
	now  func() time.Time

	mu       sync.Mutex
	failures *recent[netip.Prefix, []time.Time]
	lanes    map[netip.Prefix]*lane // those in which there is a look-up
}

// lane is the look-ups of one address: as many at once as the address has failures left, and always one.
// The others wait in order.
type lane struct {
	running int
	waiting []chan struct{} // each is closed when its turn has come
}

func newLimiter(most int, now func() time.Time) *limiter {
	return &limiter{
		most: most, now: now,
		failures: newRecent[netip.Prefix, []time.Time](maxAddresses), lanes: map[netip.Prefix]*lane{},
	}
}

// fail counts a failure of the address.
func (l *limiter) fail(address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	times := append(l.within(address, now), now)
	// Of more than the limit allows, the oldest change nothing.
	l.failures.put(address, times[max(0, len(times)-l.most):])
}

// settle counts a look-up that ended with err.
func (l *limiter) settle(address netip.Prefix, err error) {
	if errors.Is(err, ErrUnknownToken) {
		l.fail(address)
	}
}

// within gives the failures of an address that still count, oldest first.
func (l *limiter) within(address netip.Prefix, now time.Time) []time.Time {
	times, _ := l.failures.get(address)
	for len(times) > 0 && now.Sub(times[0]) >= failureWindow {
		times = times[1:]
	}
	return times
}

// enter waits until the address may look a token up, and is followed by leave unless it fails.
func (l *limiter) enter(ctx context.Context, address netip.Prefix) error {
	turn, err := l.queue(address)
	if err != nil {
		return err
	}
	late := time.NewTimer(laneWait)
	defer late.Stop()
	select {
	case <-turn:
		return nil
	case <-late.C:
		err = l.full(address)
	case <-ctx.Done():
		err = fmt.Errorf("auth: wait to verify a token: %w", context.Cause(ctx))
	}
	if !l.quit(address, turn) {
		l.leave(address) // the turn came just now
	}
	return err
}

// queue gives what is closed when the address's turn has come.
func (l *limiter) queue(address netip.Prefix) (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lanes[address]
	if line == nil {
		line = &lane{}
		l.lanes[address] = line
	}
	if len(line.waiting) == maxWaiting {
		return nil, l.full(address)
	}
	turn := make(chan struct{})
	line.waiting = append(line.waiting, turn)
	l.advance(address, line)
	return turn, nil
}

// quit takes a turn that has not come out of the lane, and reports whether there was one.
func (l *limiter) quit(address netip.Prefix, turn <-chan struct{}) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lanes[address]
	i := slices.IndexFunc(line.waiting, func(other chan struct{}) bool { return other == turn })
	if i < 0 {
		return false
	}
	line.waiting = slices.Delete(line.waiting, i, i+1)
	return true
}

// leave ends a look-up and lets those that wait go on.
func (l *limiter) leave(address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lanes[address]
	line.running--
	l.advance(address, line)
	if line.running == 0 {
		delete(l.lanes, address)
	}
}

// advance gives out the turns that there are. Where nothing runs there is one, so that a lane with nothing
// running has nothing waiting.
func (l *limiter) advance(address netip.Prefix, line *lane) {
	wide := max(1, l.most-len(l.within(address, l.now())))
	for line.running < wide && len(line.waiting) > 0 {
		close(line.waiting[0])
		line.waiting[0] = nil
		line.waiting = line.waiting[1:]
		line.running++
	}
}

func (l *limiter) full(address netip.Prefix) error {
	from := address.String()
	if address.IsSingleIP() {
		from = address.Addr().String()
	}
	refusal := fault.New(fault.RequestRateLimited,
		"Too many tokens from %s wait to be looked up, which is done one at a time after %d failed authentications within a minute (--max-failed-authentications). Try again in %d s.",
		from, l.most, retryAfter)
	refusal.Metadata = map[string]any{"limit": "failedAuthentications", "value": l.most, "retryAfterSeconds": retryAfter}
	return refusal
}

// retryAfter is when to come back to a lane that was full, in seconds.
const retryAfter = 1

// write says what is left to an address, and in how many seconds there is more.
func (l *limiter) write(h http.Header, address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	times := l.within(address, now)
	var reset time.Duration
	if len(times) > 0 {
		reset = times[0].Add(failureWindow).Sub(now)
	}
	h.Set("RateLimit-Limit", strconv.Itoa(l.most))
	h.Set("RateLimit-Remaining", strconv.Itoa(l.most-len(times)))
	h.Set("RateLimit-Reset", strconv.Itoa(int((reset+time.Second-1)/time.Second)))
}
