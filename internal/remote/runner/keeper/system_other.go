//go:build !linux

package keeper

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const bootClock = unix.CLOCK_MONOTONIC

// executable returns the path of this program.
func executable() (string, error) { return os.Executable() }

// setName does nothing: lists of processes show the arguments, and the name of the file.
func setName(string) error { return nil }

// sysProcAttr makes the program the leader of a process group.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// becomeSubreaper does nothing: the processes that a program leaves behind are children of process 1.
func becomeSubreaper() error { return nil }

// maxSocketPath is the longest path of a socket, in bytes.
const maxSocketPath = len(unix.RawSockaddrUnix{}.Path) - 1

// socketPath returns the path of the socket.
func (f folder) socketPath() (path string, release func(), err error) {
	path = f.path(socketFile)
	if len(path) > maxSocketPath {
		return "", nil, fmt.Errorf(
			"the path of the socket %s has %d bytes, and this system takes %d: choose a shorter work folder",
			path, len(path), maxSocketPath)
	}
	return path, func() {}, nil
}

// live reports whether a process of the program lives: one that has the lock of its folder.
func (p *processes) live() (bool, error) { return isLocked(p.Dir) }
