package server

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxUnsent is how much of an answer, in bytes, may wait in the system for what was sent before to be taken.
const maxUnsent = 64 << 10

func limitUnsent(conn net.Conn) {
	tcp, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // without it the connection works as well
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent)
	})
}
