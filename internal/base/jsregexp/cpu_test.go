package jsregexp_test

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mostCPU is how much of a processor one call may take: far above what it has for a match, far below a
// pattern that hangs.
const mostCPU = 2 * time.Second

// cpu measures the processor time of a call. What else the machine does adds nothing to it, as it would to
// the time on the clock.
func cpu(t testing.TB, call func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime(t)
	call()
	return threadTime(t) - before
}

func threadTime(t testing.TB) time.Duration {
	t.Helper()
	var spent unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spent); err != nil {
		t.Fatal(err)
	}
	return time.Duration(spent.Nano())
}
