package fake

import (
	"sync"
	"time"
)

// Clock is the time of the fake: that of the machine, and as much more as it was advanced.
type Clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

// Now returns the time in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead).UTC().Truncate(time.Millisecond) // as exact as AWS gives it
}

// Advance moves the time on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}
