package quota

import (
	"time"
)

// Caller is who a quota is counted for.
type Caller struct {
	// Key tells callers apart: the id of a token, or an address without one.
	Key string
	// Anonymous callers have no token.
	Anonymous bool
}

// Costs are the buckets of callers with a token, and the smaller ones of those without.
type Costs struct{ known, anonymous *Buckets }

// NewCosts returns full buckets; now is their clock.
func NewCosts(b Bucket, now func() time.Time) *Costs {
	return &Costs{NewBuckets(b, now), NewBuckets(b.Anonymous(), now)}
}

// Of returns the buckets that have the caller's.
func (c *Costs) Of(caller Caller) *Buckets {
	if caller.Anonymous {
		return c.anonymous
	}
	return c.known
}

// On reports whether anything is bounded.
func (c *Costs) On() bool { return c.known.On() }
