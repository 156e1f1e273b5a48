//go:build linux

package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// connection sends requests over one connection of HTTP/1.1, one after the other. It knows what of HTTP the servers use
// that are measured, and waits for nothing itself, so that it takes little of the processor from them: package net
// takes two calls of the kernel more for each answer, and wakes a thread of Go's runtime.
type connection struct {
	socket int
	host   string
	// in is what has come of the answer, and body its body if that came in chunks.
	in, body []byte
}

const readBuffer = 64 << 10

func dial(host string) (*connection, error) {
	at, err := netip.ParseAddrPort(host)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", host, err)
	}

	var to unix.Sockaddr = &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	family := unix.AF_INET6
	if at.Addr().Is4() {
		to, family = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}, unix.AF_INET
	}
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", host, err)
	}

	err = unix.Connect(socket, to)
	if err == nil {
		err = errors.Join(unix.SetNonblock(socket, true), unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to %s: %w", host, err), unix.Close(socket))
	}
	return &connection{socket: socket, host: host, in: make([]byte, 0, readBuffer)}, nil
}

func (c *connection) close() error { return unix.Close(c.socket) }

// send sends a request.
func (c *connection) send(request []byte) error {
	n, err := unix.Write(c.socket, request)
	if err == nil && n < len(request) { // nothing else is in flight, so the kernel has room for all of it
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	return nil
}

// receive reads what has come, and reports whether that is the whole answer, with its status and its body, which is
// valid until the next one.
func (c *connection) receive() (status int, body []byte, whole bool, err error) {
	if len(c.in) == cap(c.in) {
		c.in = append(c.in, make([]byte, len(c.in))...)[:len(c.in)]
	}

	n, err := unix.Read(c.socket, c.in[len(c.in):cap(c.in)])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, nil, false, nil
	case err == nil && n == 0:
		err = io.ErrUnexpectedEOF
	}

	if err != nil {
		return 0, nil, false, fmt.Errorf("read the answer: %w", err)
	}
	c.in = c.in[:len(c.in)+n]
	status, body, whole, err = c.parse()
	if whole {
		c.in = c.in[:0]
	}

	return status, body, whole, err
}

// exchange sends a request and waits for its answer.
func (c *connection) exchange(request []byte) (status int, body []byte, err error) {
	if err := c.send(request); err != nil {
		return 0, nil, err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); {
		status, body, whole, err := c.receive()
		if whole || err != nil {
			return status, body, err
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(c.socket), Events: unix.POLLIN}}, int(patience.Milliseconds()))
	}
	return 0, nil, fmt.Errorf("no answer came within %s", patience)
}

// parse reads what has come of an answer.
func (c *connection) parse() (status int, body []byte, whole bool, err error) {
	head, rest, found := bytes.Cut(c.in, []byte("\r\n\r\n"))
	if !found {
		return 0, nil, false, nil
	}

	line, headers, _ := bytes.Cut(head, []byte("\r\n"))
	const before, digits = len("HTTP/1.1 "), 3
	if len(line) < before+digits {
		return 0, nil, false, fmt.Errorf("read the answer: its first line is %q", line)
	}
	if status, err = strconv.Atoi(string(line[before : before+digits])); err != nil {
		return 0, nil, false, fmt.Errorf("read the answer: its first line is %q", line)
	}

	length, chunked, err := readHeaders(headers)
	if err != nil {
		return 0, nil, false, err
	}

	if chunked {
		body, rest, whole, err = c.chunks(rest)
	} else if whole = len(rest) >= length; whole {
		body, rest = rest[:length], rest[length:]
	}

	if err == nil && whole && len(rest) > 0 {
		err = fmt.Errorf("behind the answer there is %q", rest)
	}
	return status, body, whole, err
}

// readHeaders returns how long the body of an answer is, or whether it comes in chunks.
func readHeaders(headers []byte) (length int, chunked bool, err error) {
	for line := range bytes.SplitSeq(headers, []byte("\r\n")) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return 0, false, fmt.Errorf("read the headers of the answer: %w", err)
			}
		case len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
	return length, chunked, nil
}

// chunks returns the body of an answer that comes in chunks, and what is behind it.
func (c *connection) chunks(in []byte) (body, rest []byte, whole bool, err error) {
	c.body = c.body[:0]
	for {
		line, behind, found := bytes.Cut(in, []byte("\r\n"))
		if !found {
			return nil, nil, false, nil
		}

		const hex = 16
		length, err := strconv.ParseUint(string(line), hex, 31)
		if err != nil {
			return nil, nil, false, fmt.Errorf("read a chunk of the answer: %w", err)
		}
		chunk := int(length)
		if len(behind) < chunk+len("\r\n") {
			return nil, nil, false, nil
		}
		if string(behind[chunk:chunk+len("\r\n")]) != "\r\n" {
			return nil, nil, false, errors.New("a chunk of the answer does not end where it should")
		}

		c.body, in = append(c.body, behind[:chunk]...), behind[chunk+len("\r\n"):]
		if chunk == 0 {
			return c.body, in, true, nil
		}
	}
}
