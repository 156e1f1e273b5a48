//go:build linux

package load

import (
	"errors"

	"golang.org/x/sys/unix"
)

// answers waits for what comes on many connections.
type answers struct {
	epoll  int
	events []unix.EpollEvent
}

// watch returns what waits for the connections of a load.
func (l *Load) watch() (*answers, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	a := &answers{epoll, make([]unix.EpollEvent, len(l.clients))}
	for i, c := range l.clients {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, c.connection.socket, &event); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	return a, nil
}

func (a *answers) close() error { return unix.Close(a.epoll) }

// wait waits until something has come, for a tenth of a second at most, and calls read with the number of each
// connection that it has come on, up to the first error.
func (a *answers) wait(read func(i int) error) error {
	const milliseconds = 100
	n, err := unix.EpollWait(a.epoll, a.events, milliseconds)
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, event := range a.events[:n] {
		if err := read(int(event.Fd)); err != nil {
			return err
		}
	}
	return nil
}
