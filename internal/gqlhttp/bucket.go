package gqlhttp

import (
	"context"
	"sync"
	"time"

	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/httpx"
)

// Bucket bounds what each caller may spend on operations, in the cost that Limits counts. It is off
// where a number is not positive.
type Bucket struct {
	// Capacity is what a caller may spend at once. No operation may cost more.
	Capacity int
	// PerSecond is what comes back in a second.
	PerSecond int
}

func (b Bucket) on() bool { return b.Capacity > 0 && b.PerSecond > 0 }

// refill is how long an empty bucket takes to be full.
func (b Bucket) refill() time.Duration {
	return time.Duration(float64(b.Capacity) / float64(b.PerSecond) * float64(time.Second))
}

// maxCallers is how many callers one generation of buckets remembers.
const maxCallers = 5000

// buckets are the callers' buckets in two generations. The old one is forgotten when the young one has
// lasted for as long as a bucket takes to fill, so that only full buckets are lost; or when it has
// maxCallers, which keeps the memory small while addresses are made up.
type buckets struct {
	Bucket
	now        func() time.Time
	mu         sync.Mutex
	young, old map[string]level
	since      time.Time
}

// level is what was left in a bucket at a time.
type level struct {
	left float64
	at   time.Time
}

// spend takes a cost out of the caller's bucket and gives what is left, or how long to wait until
// there is enough.
func (b *buckets) spend(caller string, cost int) (left int, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.young == nil || len(b.young) >= maxCallers || now.Sub(b.since) >= b.refill() {
		b.young, b.old, b.since = map[string]level{}, b.young, now
	}
	have := b.level(caller, now)
	if missing := float64(cost) - have; missing > 0 {
		return int(have), time.Duration(missing / float64(b.PerSecond) * float64(time.Second))
	}
	have -= float64(cost)
	b.young[caller] = level{have, now}
	return int(have), 0
}

func (b *buckets) level(caller string, now time.Time) float64 {
	last, known := b.young[caller]
	if !known {
		last, known = b.old[caller]
	}
	if !known {
		return float64(b.Capacity)
	}
	back := max(now.Sub(last.at), 0).Seconds() * float64(b.PerSecond)
	return min(last.left+back, float64(b.Capacity))
}

// charge takes the cost out of the bucket of the context's caller.
func (b *buckets) charge(ctx context.Context, spent *spending) *fault.Error {
	left, wait := b.spend(callerOf(ctx), spent.Used)
	if wait > 0 {
		seconds := int((wait + time.Second - 1) / time.Second)
		e := fault.New(fault.RequestRateLimited, "The operation costs %d and %d is left of %d; %d comes back a second. Try again in %d s.",
			spent.Used, left, b.Capacity, b.PerSecond, seconds)
		e.Metadata = map[string]any{"cost": spent.Used, "left": left, "capacity": b.Capacity, "retryAfterSeconds": seconds}
		return e
	}
	spent.Left, spent.Capacity, spent.PerSecond = new(left), b.Capacity, b.PerSecond
	return nil
}

// callerOf is the token of the request, or where it comes from.
func callerOf(ctx context.Context) string {
	if a := actor.From(ctx); a != nil && a.ID != "" {
		return a.ID
	}
	return httpx.ClientNetwork(ctx).String()
}
