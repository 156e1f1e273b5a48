package demo

import "time"

// clock stands still until it is moved.
type clock struct{ at time.Time }

// Now is the moment that the clock stands at, in whole microseconds as the databases keep them.
func (c *clock) Now() time.Time { return c.at.Truncate(time.Microsecond) }

// pass moves the clock on.
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

// reach moves the clock on to a moment; it never goes back.
func (c *clock) reach(t time.Time) {
	if t.After(c.at) {
		c.at = t
	}
}
