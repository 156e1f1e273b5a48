package quota

import (
	"time"

	"slipway/internal/base/turns"
)

// Costs are the buckets of callers with a token, and the smaller ones of those without.
type Costs struct{ known, anonymous *Buckets }

// NewCosts returns full buckets; now is their clock.
func NewCosts(b Bucket, now func() time.Time) *Costs {
	return &Costs{NewBuckets(b, now), NewBuckets(b.Anonymous(), now)}
}

// Of returns the buckets that have the caller's.
func (c *Costs) Of(caller turns.Caller) *Buckets {
	if caller.Anonymous {
		return c.anonymous
	}
	return c.known
}

// On reports whether anything is bounded.
func (c *Costs) On() bool { return c.known.On() }
