package keeper

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

const bootClock = unix.CLOCK_BOOTTIME

// executable returns the path of this program, which is valid even if its file was replaced.
func executable() (string, error) { return "/proc/self/exe", nil }

// setName sets the name of this process in lists of processes.
func setName(name string) error { return os.WriteFile("/proc/self/comm", []byte(name), fileMode) }

// sysProcAttr makes the program the leader of a process group, and has the kernel kill it when its keeper dies.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// becomeSubreaper makes this process the parent of the processes that its program leaves behind, so that it can reap
// them.
func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// socketPath returns a path of the socket that is short enough for the address of a socket, however deep the folder is,
// and is good until release is called.
func (f folder) socketPath() (path string, release func(), err error) {
	dir, err := os.Open(string(f))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socketFile), func() { _ = dir.Close() }, nil
}

// live reports whether a process of the program's group lives. One that has the group's id in the session of another
// keeper is not the program's.
func (p *processes) live() (bool, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}

	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has just ended
		}

		// The name of the process, in parentheses, may have any characters; state, parent, group and session follow.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) > 3 && string(fields[0]) != "Z" &&
			string(fields[2]) == strconv.Itoa(p.Group) && string(fields[3]) == strconv.Itoa(p.Keeper) {
			return true, nil
		}
	}
	return false, nil
}
