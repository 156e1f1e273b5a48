package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// answerTime is how long a runner waits for a keeper: one that is frozen takes nothing and answers nothing.
const answerTime = time.Second

// errNoAnswer is the error of a program whose keeper lives and does not answer.
var errNoAnswer = errors.New("its keeper does not answer")

// listen makes the socket of the program's folder.
func (h *Handle) listen() (*os.File, error) {
	path, release, err := h.socketPath()
	if err != nil {
		return nil, err
	}
	defer release()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("make a socket in %s: %w", h.folder, err)
	}
	defer func() { _ = l.Close() }()
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(h.path(socketFile), fileMode); err != nil {
		return nil, err
	}
	return l.File()
}

func (h *Handle) dial() (net.Conn, error) {
	path, release, err := h.socketPath()
	if err != nil {
		return nil, err
	}
	defer release()
	return net.DialTimeout("unix", path, answerTime)
}

// messages returns the decoder of what a keeper tells, which is twice on a connection.
func messages(c net.Conn) *json.Decoder { return json.NewDecoder(io.LimitReader(c, 4*maxMessage)) }

// follow hears the keeper until it has told the end of the program, or is gone.
func (h *Handle) follow(in *json.Decoder) {
	defer close(h.ended)
	for in != nil && !h.heardEnd(in) {
		in = h.reconnect()
	}
}

// heardEnd reads from a connection until it ends, and reports whether the end of the program was told.
func (h *Handle) heardEnd(in *json.Decoder) bool {
	for {
		var told message
		if in.Decode(&told) != nil {
			return false
		}
		h.mu.Lock()
		h.known.add(told.orders)
		h.known.End = told.End
		h.mu.Unlock()
		if told.End != nil {
			return true
		}
	}
}

// reconnect connects again with a keeper that lives, tells it what an earlier connection may have lost, and returns
// what it tells; nil when it is gone, or the handle is closed.
func (h *Handle) reconnect() *json.Decoder {
	for idle := minPoll; ; idle = min(2*idle, maxPoll) {
		<-time.After(idle)
		alive, err := isLocked(h.path(keeperLockFile))
		if err != nil || !alive {
			return nil
		}
		c, err := h.dial()
		if err == nil {
			if h.adoptConnection(c) {
				return messages(c)
			}
			_ = c.Close()
			return nil
		}
	}
}

// adoptConnection makes a connection the handle's, unless that is closed.
func (h *Handle) adoptConnection(c net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.conn = c
	_ = h.tell(h.known)
	return true
}

// tell tells the keeper something. After an error the connection is closed. The caller has locked the handle.
func (h *Handle) tell(m message) error {
	if h.conn == nil {
		return net.ErrClosed
	}
	err := write(h.conn, m, answerTime)
	if err != nil {
		_ = h.conn.Close()
		h.conn = nil
	}
	return err
}

// disconnect ends the connection with the keeper for good.
func (h *Handle) disconnect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.conn != nil {
		_ = h.conn.Close()
		h.conn = nil
	}
}
