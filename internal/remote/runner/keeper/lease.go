package keeper

import (
	"time"

	"golang.org/x/sys/unix"
)

// Lease is the right to run a program until End.
type Lease struct {
	ID  string  `json:"id"`
	End Instant `json:"end"`
	// Length is how long the lease lasted when it was granted or renewed.
	Length time.Duration `json:"length"`
}

// maxMargin is the longest time between the end of a program and the end of its lease.
const maxMargin = 5 * time.Second

// margin returns how long before the end of the lease the program must be dead: signals and timers may be late.
func (l Lease) margin() time.Duration { return min(l.Length/10, maxMargin) }

// grace returns how long a program under the lease may take to end after SIGTERM, at most what is configured.
func (l Lease) grace(configured time.Duration) time.Duration { return min(configured, l.Length/3) }

// Overdue reports whether a program that still runs should have been killed by now. Its keeper does not work then,
// and somebody else has to kill the program before the lease ends.
func (l Lease) Overdue(now Instant) bool { return l.End.Sub(now) <= l.margin()/2 }

// Instant is a moment by two clocks of a machine: the wall clock, which can be set, and the time since the machine
// was started, which cannot, and which all processes share.
type Instant struct {
	// Boot is the time since the machine was started. On Linux and macOS it counts the time asleep.
	Boot time.Duration `json:"boot"`
	Wall time.Time     `json:"wall"`
}

// Clock returns the present.
type Clock func() Instant

// Now is the machine's Clock.
func Now() Instant {
	var t unix.Timespec
	if err := unix.ClockGettime(bootClock, &t); err != nil {
		panic(err) // every system has the clock
	}
	return Instant{Boot: time.Duration(t.Nano()), Wall: time.Now().Round(0)}
}

// Add returns the moment d later by both clocks.
func (i Instant) Add(d time.Duration) Instant {
	return Instant{Boot: i.Boot + d, Wall: i.Wall.Add(d)}
}

// Sub returns the time from now to i, by the clock that says less. So a clock that jumps ends a lease early, never
// late.
func (i Instant) Sub(now Instant) time.Duration {
	return min(i.Boot-now.Boot, i.Wall.Sub(now.Wall))
}
