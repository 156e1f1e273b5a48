package httpx

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// Crowd bounds the connections of an http.Server, by its ConnState. If there are too many, it closes the one that has
// been silent for longest, so that no number of silent ones keeps others out. If a request is under way on all of them,
// it closes the new one.
type Crowd struct {
	most int

	mu sync.Mutex
	// busy are the connections with a request under way. silent are the others, the longest first.
	busy   map[net.Conn]bool
	silent []net.Conn
}

// NewCrowd returns a limit of most connections.
func NewCrowd(most int) *Crowd { return &Crowd{most: most, busy: map[net.Conn]bool{}} }

// ConnState is that of the http.Server.
func (c *Crowd) ConnState(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.remove(conn)
	switch {
	case state == http.StateNew, state == http.StateIdle && known:
		c.silent = append(c.silent, conn)
	case state == http.StateActive && known:
		c.busy[conn] = true
	}

	if len(c.busy)+len(c.silent) > c.most {
		oldest := c.silent[0]
		c.silent = c.silent[1:]
		_ = oldest.Close() // its client has no answer to lose
	}
}

// remove reports whether a connection was counted, and counts it no longer. One that was closed for others is not.
func (c *Crowd) remove(conn net.Conn) bool {
	if c.busy[conn] {
		delete(c.busy, conn)
		return true
	}
	at := slices.Index(c.silent, conn)
	if at < 0 {
		return false
	}
	c.silent = slices.Delete(c.silent, at, at+1)
	return true
}
