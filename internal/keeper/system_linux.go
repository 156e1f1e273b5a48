package keeper

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const bootClock = unix.CLOCK_BOOTTIME

// self returns the path of this program, which is right also where its file has been replaced.
func self() (string, error) { return "/proc/self/exe", nil }

// attributes lets a program lead a process group of its own, and kills it where its keeper is killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adopt makes this process the parent of what its program leaves behind, so that it can take leave of it.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
