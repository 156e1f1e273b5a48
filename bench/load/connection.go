package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// connection sends requests over one connection of HTTP/1.1, one after the other. It knows what of HTTP the servers use that
// are measured, so that it takes little of the processor from them.
type connection struct {
	conn   net.Conn
	reader *bufio.Reader
	body   []byte
}

const (
	readBuffer  = 64 << 10
	dialTimeout = 5 * time.Second
)

func dial(host string) (*connection, error) {
	conn, err := net.DialTimeout("tcp", host, dialTimeout)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, reader: bufio.NewReaderSize(conn, readBuffer)}, nil
}

func (c *connection) close() error { return c.conn.Close() }

// send sends a request and returns the status and the body of the answer, which is valid until the next one.
func (c *connection) send(request []byte) (status int, body []byte, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, fmt.Errorf("send a request: %w", err)
	}
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return 0, nil, fmt.Errorf("read the answer: %w", err)
	}
	const before, digits = len("HTTP/1.1 "), 3
	if len(line) < before+digits {
		return 0, nil, fmt.Errorf("read the answer: its first line is %q", line)
	}
	if status, err = strconv.Atoi(string(line[before : before+digits])); err != nil {
		return 0, nil, fmt.Errorf("read the answer: its first line is %q", line)
	}
	length, chunked, err := c.headers()
	if err != nil {
		return 0, nil, err
	}
	c.body = c.body[:0]
	if chunked {
		err = c.chunks()
	} else {
		err = c.read(length)
	}
	return status, c.body, err
}

// headers reads the headers of an answer, and returns how long its body is, or whether it comes in chunks.
func (c *connection) headers() (length int, chunked bool, err error) {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, false, fmt.Errorf("read the headers of the answer: %w", err)
		}
		name, value, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		if !found {
			return length, chunked, nil
		}
		switch value = bytes.TrimSpace(value); {
		case len(name) == len("Content-Length") && bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, false, fmt.Errorf("read the headers of the answer: %w", err)
			}
		case len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
}

// read appends so many bytes to the body.
func (c *connection) read(length int) error {
	begin := len(c.body)
	c.body = append(c.body, make([]byte, length)...)
	if _, err := io.ReadFull(c.reader, c.body[begin:]); err != nil {
		return fmt.Errorf("read the body of the answer: %w", err)
	}
	return nil
}

func (c *connection) chunks() error {
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read a chunk of the answer: %w", err)
		}
		const hex = 16
		length, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), hex, 0)
		if err != nil {
			return fmt.Errorf("read a chunk of the answer: %w", err)
		}
		if err := c.read(int(length)); err != nil {
			return err
		}
		if end, err := c.reader.ReadSlice('\n'); err != nil || len(end) != len("\r\n") {
			return errors.Join(errors.New("a chunk of the answer does not end where it should"), err)
		}
		if length == 0 {
			return nil
		}
	}
}
