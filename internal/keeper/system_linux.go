package keeper

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const bootClock = unix.CLOCK_BOOTTIME

// executable returns the path of this program, which is valid even if its file was replaced.
func executable() (string, error) { return "/proc/self/exe", nil }

// sysProcAttr makes the program the leader of a process group, and has the kernel kill it when its keeper dies.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// becomeSubreaper makes this process the parent of the processes that its program leaves behind, so that it can reap
// them.
func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
