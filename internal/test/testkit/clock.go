package testkit

import (
	"sync/atomic"
	"time"
)

// Clock is a clock that a test advances. Any number of goroutines may read it meanwhile.
type Clock struct {
	now     func() time.Time
	advance atomic.Int64 // nanoseconds
}

// NewClock returns a clock that stands still at a time.
func NewClock(at time.Time) *Clock {
	return &Clock{now: func() time.Time { return at }}
}

// NewRunningClock returns a clock that runs as now does.
func NewRunningClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return c.now().Add(time.Duration(c.advance.Load())) }

// Advance sets the clock forward by d, or back where d is negative.
func (c *Clock) Advance(d time.Duration) { c.advance.Add(int64(d)) }
