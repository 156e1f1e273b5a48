package keeper

import (
	"time"

	"golang.org/x/sys/unix"
)

// Instant is a moment by both clocks of a machine: one that nobody can set and that all processes share,
// and the wall clock.
type Instant struct {
	// Boot is the time since the machine was started. On Linux and macOS it counts sleep.
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

// Sub returns how long it is from now to i, by the clock that says less.
func (i Instant) Sub(now Instant) time.Duration {
	return min(i.Boot-now.Boot, i.Wall.Sub(now.Wall))
}

// Lease is the right to run a program until End.
type Lease struct {
	ID  string  `json:"id"`
	End Instant `json:"end"`
	// Length is how long it lasted when it was granted or renewed.
	Length time.Duration `json:"length"`
}

// maxMargin is the longest time between the end of a program and that of its lease.
const maxMargin = 5 * time.Second

// margin is how long before its lease ends a program must be dead: signals and timers may be late.
func (l Lease) margin() time.Duration { return min(l.Length/10, maxMargin) }

// grace is how long a program may take to end under the lease, where it is given so long.
func (l Lease) grace(given time.Duration) time.Duration { return min(given, l.Length/3) }

// Overdue reports whether a program that still runs has not been stopped as it should have been: the
// lease is about to end.
func (l Lease) Overdue(now Instant) bool { return l.End.Sub(now) <= l.margin()/2 }
