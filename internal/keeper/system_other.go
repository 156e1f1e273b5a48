//go:build !linux

package keeper

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const bootClock = unix.CLOCK_MONOTONIC

// self returns the path of this program.
func self() (string, error) { return os.Executable() }

// attributes lets a program lead a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// adopt does nothing: what a program leaves behind is the child of process 1.
func adopt() error { return nil }
