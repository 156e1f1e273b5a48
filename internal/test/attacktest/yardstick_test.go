package attacktest_test

import (
	"encoding/json"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The yardstick is work of the kind that servers do, whose CPU time says how fast the machine is just now:
// processors that are shared run the same program up to twice as long. yardstickCPU is what it takes on the
// machine that the bounds are meant for, and mostSlowness how much slower a machine may count as.
const (
	yardstickCPU = 18 * time.Millisecond
	mostSlowness = 1.6
)

// yardstick is what is read and written again to tell how fast the machine is.
var yardstick = []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id":"a","label":"A label","values":["one","two",3.5,true,null]},`, 2_000), ",") + "]")

// slowness returns how many times as long as on the machine of the bounds a program takes now, at least 1, on as
// many cores: two that share a processor's parts slow each other down.
func slowness(t *testing.T, cores int) float64 {
	t.Helper()
	begun := ownCPU(t)
	var working sync.WaitGroup
	for range cores {
		working.Go(func() { readAndWrite(t) })
	}
	working.Wait()
	took := (ownCPU(t) - begun) / time.Duration(cores)
	return min(max(float64(took)/float64(yardstickCPU), 1), mostSlowness)
}

func readAndWrite(t *testing.T) {
	for range 2 {
		var read any
		if err := json.Unmarshal(yardstick, &read); err != nil {
			t.Error(err)
		}
		if _, err := json.Marshal(read); err != nil {
			t.Error(err)
		}
	}
}

// ownCPU is the CPU time that this process has taken.
func ownCPU(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
