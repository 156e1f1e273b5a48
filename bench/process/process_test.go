//go:build linux

package process_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"slipway/bench/process"
)

func TestEndedProcessesCount(t *testing.T) {
	t.Parallel()
	before, err := process.CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	after, err := process.CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if after-before < took-50*time.Millisecond || took == 0 {
		t.Errorf("it is %s, and was %s before a process that took %s", after, before, took)
	}
}

func TestProcessesOfProcessesAreFound(t *testing.T) {
	t.Parallel()
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = c.Wait()
	}()
	tree, err := process.Tree(os.Getpid())
	if err != nil || !slices.Contains(tree, c.Process.Pid) {
		t.Errorf("%v, error %v: %d is not among them", tree, err, c.Process.Pid)
	}
	if parent, err := process.Parent(c.Process.Pid); err != nil || parent != os.Getpid() {
		t.Errorf("the parent is %d, error %v, not %d", parent, err, os.Getpid())
	}
	if err := process.ResetPeak(os.Getpid()); err != nil {
		t.Error(err)
	}
	if peak, err := process.PeakMemory(os.Getpid()); err != nil || peak < 1<<20 {
		t.Errorf("its memory is %d, error %v", peak, err)
	}
}
