//go:build !linux

package keeper

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const bootClock = unix.CLOCK_MONOTONIC

// executable returns the path of this program.
func executable() (string, error) { return os.Executable() }

// sysProcAttr makes the program the leader of a process group.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// becomeSubreaper does nothing: the processes that a program leaves behind are children of process 1.
func becomeSubreaper() error { return nil }
