package quota

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"slipway/internal/fault"
)

// Bucket bounds what each caller may spend on requests, in the cost that they are told. It is off where a
// number is not positive.
type Bucket struct {
	// Capacity is what a caller may spend at once.
	Capacity int
	// PerSecond is what comes back in a second.
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

// refill is how long an empty bucket takes to be full.
func (b Bucket) refill() time.Duration {
	return time.Duration(float64(b.Capacity) / float64(b.PerSecond) * float64(time.Second))
}

// Budget is what is left in a caller's bucket.
type Budget struct {
	Bucket
	Left int
}

// Write sets the RateLimit headers that tell the budget.
func (b Budget) Write(h http.Header) {
	missing := float64(b.Capacity-b.Left) / float64(b.PerSecond)
	h.Set("RateLimit-Limit", strconv.Itoa(b.Capacity))
	h.Set("RateLimit-Remaining", strconv.Itoa(max(b.Left, 0)))
	h.Set("RateLimit-Reset", strconv.Itoa(seconds(time.Duration(missing*float64(time.Second)))))
}

// maxCallers is how many callers one generation of buckets remembers.
const maxCallers = 5000

// Buckets are those of all callers, in two generations. The old one is forgotten when the young one has
// lasted for as long as a bucket takes to fill, so that only full buckets are lost; or when it has
// maxCallers, which keeps the memory small while addresses are made up.
type Buckets struct {
	Bucket
	now        func() time.Time
	mu         sync.Mutex
	young, old map[string]level
	since      time.Time
}

// level is what was left in a bucket at a time; what was spent without asking may have left less than
// nothing.
type level struct {
	left float64
	at   time.Time
}

// NewBuckets returns full buckets; now is their clock.
func NewBuckets(b Bucket, now func() time.Time) *Buckets { return &Buckets{Bucket: b, now: now} }

// Spend takes a cost out of the caller's bucket. It returns RequestRateLimited where there is less.
func (b *Buckets) Spend(caller string, cost int) (Budget, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	have := b.level(caller)
	missing := float64(cost) - have
	if missing <= 0 {
		return b.keep(caller, have-float64(cost)), nil
	}
	left := Budget{b.Bucket, int(have)}
	wait := seconds(time.Duration(missing / float64(b.PerSecond) * float64(time.Second)))
	e := fault.New(fault.RequestRateLimited,
		"The request costs %d and %d is left of %d (--cost-capacity); %d comes back a second (--cost-per-second). Try again in %d s.",
		cost, left.Left, b.Capacity, b.PerSecond, wait)
	e.Metadata = map[string]any{"limit": "costCapacity", "value": b.Capacity, "cost": cost, "left": left.Left, "retryAfterSeconds": wait}
	return left, e
}

// Settle gives a cost back that was spent and not used, or takes one that was used and not spent where it
// is negative.
func (b *Buckets) Settle(caller string, unused int) Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.keep(caller, min(b.level(caller)+float64(unused), float64(b.Capacity)))
}

func (b *Buckets) keep(caller string, left float64) Budget {
	now := b.now()
	if b.young == nil || len(b.young) >= maxCallers || now.Sub(b.since) >= b.refill() {
		b.young, b.old, b.since = map[string]level{}, b.young, now
	}
	b.young[caller] = level{left, now}
	return Budget{b.Bucket, int(left)}
}

func (b *Buckets) level(caller string) float64 {
	last, known := b.young[caller]
	if !known {
		last, known = b.old[caller]
	}
	if !known {
		return float64(b.Capacity)
	}
	back := max(b.now().Sub(last.at), 0).Seconds() * float64(b.PerSecond)
	return min(last.left+back, float64(b.Capacity))
}

// seconds rounds a time up to whole seconds.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
