package main

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// memoryProgram is the variable that makes the test's program print its memory limits.
const memoryProgram = "SLIPWAY_TEST_MEMORY"

func TestMemoryLimitIsThatOfTheProcessorsOrHalfMoreThanIsUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inUse      uint64
		processors int
		want       int64
	}{
		{0, 1, 72 << 20},
		{10 << 20, 2, 112 << 20},
		{74 << 20, 2, 112 << 20},
		{200 << 20, 2, 300 << 20},
		{200 << 20, 16, 672 << 20},
	} {
		if got := memoryLimit(c.inUse, c.processors); got != c.want {
			t.Errorf("%d bytes on %d processors: %d, want %d", c.inUse, c.processors, got, c.want)
		}
	}
}

// The limit is of the whole process, so a process of its own changes it.
func TestMemoryLimitFollowsWhatIsInUse(t *testing.T) {
	t.Parallel()
	if os.Getenv(memoryProgram) != "" {
		followMemory(t)
		return
	}
	for name, set := range map[string]string{"by itself": "", "GOGC is set": "GOGC=100", "GOMEMLIMIT is set": "GOMEMLIMIT=1GiB"} {
		c := exec.Command(os.Args[0], "-test.run=^TestMemoryLimitFollowsWhatIsInUse$", "-test.v")
		isSet := func(s string) bool { return strings.HasPrefix(s, "GOGC=") || strings.HasPrefix(s, "GOMEMLIMIT=") }
		c.Env = append(slices.DeleteFunc(os.Environ(), isSet), memoryProgram+"=1")
		if set != "" {
			c.Env = append(c.Env, set)
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if follows := strings.Contains(string(out), "the limit follows"); follows != (set == "") {
			t.Errorf("%s: follows %t\n%s", name, follows, out)
		}
	}
}

func followMemory(t *testing.T) {
	t.Helper()
	before := debug.SetMemoryLimit(-1)
	limitMemory(os.LookupEnv)
	first := debug.SetMemoryLimit(-1)
	if first == before {
		return
	}

	held := make([]byte, 4*first)
	if raised := limitThat(t, func(limit int64) bool { return limit > first }); raised < 6*first {
		t.Errorf("%d while %d are held", raised, len(held))
	}
	runtime.KeepAlive(held)
	limitThat(t, func(limit int64) bool { return limit == first })
	t.Log("the limit follows")
}

// limitThat collects garbage until the memory limit is as wanted, and returns it.
func limitThat(t *testing.T, wanted func(int64) bool) int64 {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		runtime.GC()
		if limit := debug.SetMemoryLimit(-1); wanted(limit) {
			return limit
		}
	}
	t.Fatal("the memory limit stays")
	return 0
}
