package quota

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"slipway/internal/base/fault"
)

// Bucket is a token bucket that bounds the cost of each caller's requests, in the cost that answers report. It is
// off if a number is not positive.
type Bucket struct {
	// Capacity is what a caller may spend at once.
	Capacity int
	// PerSecond is what is refilled in a second.
	PerSecond int
}

// On reports whether anything is bounded.
func (b Bucket) On() bool { return b.Capacity > 0 && b.PerSecond > 0 }

// Anonymous returns the bucket of callers without a token: a tenth of the others'.
func (b Bucket) Anonymous() Bucket {
	const part = 10
	if !b.On() {
		return b
	}
	return Bucket{max(b.Capacity/part, 1), max(b.PerSecond/part, 1)}
}

// Budget is what is left in a caller's bucket.
type Budget struct {
	Bucket
	Left int
}

// Write sets the RateLimit headers.
func (b Budget) Write(h http.Header) {
	missing := float64(b.Capacity-b.Left) / float64(b.PerSecond)
	SetHeaders(h, b.Capacity, b.Left, time.Duration(missing*float64(time.Second)))
}

// SetHeaders sets the RateLimit headers: how much there may be, what is left of it, and when it is all there again.
func SetHeaders(h http.Header, limit, left int, reset time.Duration) {
	values := []string{strconv.Itoa(limit), strconv.Itoa(max(left, 0)), strconv.Itoa(seconds(reset))}
	// The names are as http.Header has them, so that it need not find that form for each answer.
	h["Ratelimit-Limit"], h["Ratelimit-Remaining"], h["Ratelimit-Reset"] = values[0:1:1], values[1:2:2], values[2:3:3]
}

// maxCallers is of how many callers the buckets are kept. It keeps the memory small while addresses are made up.
const maxCallers = 10_000

// Buckets has the bucket of every caller. Beyond maxCallers it forgets the bucket that was used least recently, and
// its caller starts with a full one.
type Buckets struct {
	Bucket
	now    func() time.Time
	mu     sync.Mutex
	levels *simplelru.LRU[string, *level]
}

// level is what was left in a bucket at a time. It is negative if a request cost more than it was expected to.
type level struct {
	left float64
	at   time.Time
}

// NewBuckets returns full buckets; now is their clock.
func NewBuckets(b Bucket, now func() time.Time) *Buckets {
	levels, err := simplelru.NewLRU[string, *level](maxCallers, nil)
	if err != nil {
		panic(err) // maxCallers is above 0
	}
	return &Buckets{Bucket: b, now: now, levels: levels}
}

// Spend takes a cost out of the caller's bucket. It returns RequestRateLimited if there is less.
func (b *Buckets) Spend(caller string, cost int) (Budget, error) {
	_, left, err := b.take(caller, "The request", cost, 0)
	return left, err
}

// Await takes a cost out of the caller's bucket, and waits if there is less until it has come back. Requests of a
// caller wait in order, and what they wait for is not there for the caller's others. It returns RequestRateLimited, at
// once, if that would take longer than patience, and the context's error if that ends first. what names it in the
// error.
func (b *Buckets) Await(ctx context.Context, caller, what string, cost int, patience time.Duration) error {
	wait, _, err := b.take(caller, what, cost, patience)
	if err != nil || wait == 0 {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		b.Settle(caller, cost)
		return context.Cause(ctx)
	}
}

// take takes a cost out of the caller's bucket where all of it is there within a time, and returns when that is.
func (b *Buckets) take(
	caller, what string, cost int, within time.Duration,
) (wait time.Duration, left Budget, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	have := b.level(caller)
	if missing := float64(cost) - have.left; missing > 0 {
		wait = max(time.Duration(missing/float64(b.PerSecond)*float64(time.Second)), 1)
	}

	if wait <= within {
		have.left -= float64(cost)
		return wait, b.budget(have), nil
	}

	left = b.budget(have)
	e := fault.New(fault.RequestRateLimited,
		"%s costs %d and %d is left of %d (--cost-capacity); %d comes back a second (--cost-per-second). Try again in %d s.",
		what, cost, max(left.Left, 0), b.Capacity, b.PerSecond, seconds(wait))
	e.Metadata = map[string]any{
		"limit": "costCapacity", "value": b.Capacity,
		"cost": cost, "left": max(left.Left, 0), "retryAfterSeconds": seconds(wait),
	}
	return wait, left, e
}

// Settle puts back what was spent and not used. A negative number takes what was used and not spent.
func (b *Buckets) Settle(caller string, unused int) Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	have := b.level(caller)
	have.left = min(have.left+float64(unused), float64(b.Capacity))
	return b.budget(have)
}

func (b *Buckets) budget(have *level) Budget { return Budget{b.Bucket, int(have.left)} }

// level returns what is in the caller's bucket now.
func (b *Buckets) level(caller string) *level {
	now := b.now()
	last, known := b.levels.Get(caller)
	if !known {
		last = &level{float64(b.Capacity), now}
		b.levels.Add(caller, last)
	}
	refilled := max(now.Sub(last.at), 0).Seconds() * float64(b.PerSecond)
	last.left, last.at = min(last.left+refilled, float64(b.Capacity)), now
	return last
}

// seconds rounds a time up to whole seconds.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
