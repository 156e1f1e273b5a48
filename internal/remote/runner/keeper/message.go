package keeper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// message is what a runner and a keeper tell each other, as a line of JSON over a socket. The runner tells what is new.
// The keeper tells all that it knows: to each runner that connects, and when the program has ended.
type message struct {
	orders
	// Note is what a runner has noted last, for one that adopts the program.
	Note json.RawMessage `json:"note,omitempty"`
	// End is nil while the program has not ended.
	End *End `json:"end,omitempty"`
}

// orders are what a runner asks of a keeper.
type orders struct {
	Lease Lease `json:"lease,omitzero"`
	// Stop asks for the end of the program; nil while nobody has asked.
	Stop *stopOrder `json:"stop,omitempty"`
}

// stopOrder stops a program: at once by SIGTERM, and at a time by SIGKILL.
type stopOrder struct {
	Why  Reason  `json:"why"`
	Kill Instant `json:"kill"`
}

// add adds orders. Of two leases the one counts that ends later, because the answers to two requests may come in the
// wrong order; of two stops the first reason and the earlier time.
func (o *orders) add(more orders) {
	if more.Lease.End.Boot > o.Lease.End.Boot {
		o.Lease = more.Lease
	}
	switch {
	case more.Stop == nil:
	case o.Stop == nil:
		o.Stop = more.Stop
	case more.Stop.Kill.Boot < o.Stop.Kill.Boot:
		o.Stop = &stopOrder{o.Stop.Why, more.Stop.Kill}
	}
}

// line returns a value as a line of JSON.
func line(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return append(text, '\n'), nil
}

// maxMessage is the longest line that is read, in bytes.
const maxMessage = 256 << 10

// stream is a file descriptor to which another process writes lines. It is read by system calls, because who watches a
// lease must know that there is nothing to read: after a process was frozen, deadlines of Go have passed unseen.
type stream struct {
	fd   int
	rest []byte
}

// read reads what is there and calls take with each line. It returns io.EOF when the other process has closed the
// stream or has ended.
func (s *stream) read(take func(line []byte)) error {
	buffer := make([]byte, 4<<10)
	n, err := unix.Read(s.fd, buffer)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return err
	case n == 0:
		return io.EOF
	}

	s.rest = append(s.rest, buffer[:n]...)
	for {
		line, rest, whole := bytes.Cut(s.rest, []byte{'\n'})
		if !whole {
			break
		}
		take(line)
		s.rest = rest
	}

	if len(s.rest) > maxMessage {
		return fmt.Errorf("a message has more than %d bytes", maxMessage)
	}
	return nil
}

// maxReads is how often hearAll reads: more often than it takes to empty a full socket.
const maxReads = 256

// hearAll calls hear until all that was said is heard, and waits for the first message, for pollInterval at most. Who
// watches a lease acts on the time after it, so it ends even if there is always more to hear.
func hearAll(hear func(wait time.Duration) (heard bool, err error)) error {
	wait := pollInterval
	for range maxReads {
		if heard, err := hear(wait); !heard || err != nil {
			return err
		}
		wait = 0
	}
	return nil
}

// await waits until file descriptors can be read, or have been closed at the other end, for d at most. It returns
// which, and none if there is nothing to read in any.
func await(d time.Duration, fds ...int) (ready []int, err error) {
	list := make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		list[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	_, err = unix.Poll(list, int(d/time.Millisecond))
	for errors.Is(err, unix.EINTR) {
		_, err = unix.Poll(list, int(d/time.Millisecond))
	}
	if err != nil {
		return nil, fmt.Errorf("wait for messages: %w", err)
	}
	for _, one := range list {
		if one.Revents != 0 {
			ready = append(ready, int(one.Fd))
		}
	}
	return ready, nil
}
