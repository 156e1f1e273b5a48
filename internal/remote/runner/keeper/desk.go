package keeper

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// desk is where a runner reaches a keeper: a socket, which needs no room on the disk once it is made. It serves one
// runner at a time, the one that has come last, for an earlier one has no Handle any more.
type desk struct {
	socket   *net.UnixListener
	socketFD int
	in       stream

	mu sync.Mutex
	// runner is nil while none is connected.
	runner *net.UnixConn
}

// newDesk returns the desk at a socket that this process has inherited.
func newDesk(inherited *os.File) (*desk, error) {
	l, err := net.FileListener(inherited) // which copies it
	if err != nil {
		return nil, fmt.Errorf("listen for the runner: %w", err)
	}
	_ = inherited.Close()
	socket, ok := l.(*net.UnixListener)
	if !ok {
		return nil, fmt.Errorf("the socket is a %T", l)
	}
	d := &desk{socket: socket}
	d.socketFD, err = descriptor(socket)
	return d, err
}

// descriptor returns the number of a connection's file descriptor, which it has until it is closed.
func descriptor(c syscall.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	return fd, raw.Control(func(number uintptr) { fd = int(number) })
}

// hear waits, for d at most, until a runner says something, and reports whether one has. take is called with each
// message, greeting for what to tell a runner that connects.
func (d *desk) hear(wait time.Duration, take func(message), greeting func() message) (heard bool, err error) {
	connected := d.current() != nil
	fds := []int{d.socketFD}
	if connected {
		fds = append(fds, d.in.fd)
	}

	ready, err := await(wait, fds...)
	if err != nil || len(ready) == 0 {
		return false, err
	}

	// What a runner has said counts after it has gone, too, so it is heard before the next one is.
	if connected && slices.Contains(ready, d.in.fd) {
		if d.in.read(func(line []byte) { d.hand(line, take) }) != nil {
			d.replaceRunner(nil)
		}
		return true, nil
	}

	if err := d.accept(); err != nil {
		return true, err
	}
	d.send(greeting())
	return true, nil
}

// hand hands a line on as a message. What is none is from no runner.
func (d *desk) hand(line []byte, take func(message)) {
	var m message
	if json.Unmarshal(line, &m) == nil {
		take(m)
	}
}

// accept takes the next runner that waits.
func (d *desk) accept() error {
	c, err := d.socket.AcceptUnix()
	if err != nil {
		return err
	}
	d.replaceRunner(c)
	fd, err := descriptor(c)
	d.in = stream{fd: fd}
	return err
}

func (d *desk) current() *net.UnixConn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runner
}

func (d *desk) replaceRunner(by *net.UnixConn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runner != nil {
		_ = d.runner.Close()
	}
	d.runner = by
}

// send tells the runner, if one is connected. One that is frozen is not waited for: it is disconnected, and told when
// it connects again. hear closes the connection, as nobody else may while it reads.
func (d *desk) send(m message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runner != nil && write(d.runner, m, pollInterval) != nil {
		_ = d.runner.CloseWrite()
		_ = d.runner.CloseRead()
	}
}

// write writes a message as a line. After an error the connection must be closed, for a part may have been written.
func write(c net.Conn, m message, timeout time.Duration) error {
	text, err := line(m)
	if err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err = c.Write(text)
	return err
}
