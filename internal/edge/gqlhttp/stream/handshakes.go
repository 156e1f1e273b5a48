package stream

import (
	"maps"
	"slices"
	"sync"

	"slipway/internal/base/fault"
)

// handshakes are the sockets that are not acknowledged yet, oldest first. Whose they are is not known, so they
// are bounded apart from those that are acknowledged, and where there are too many it is an address with
// the most of them that loses its oldest.
type handshakes struct {
	most    int
	mu      sync.Mutex
	sockets []*socket
	from    map[string]int // how many of them each address has
}

func newHandshakes(most int) *handshakes {
	return &handshakes{most: most, from: map[string]int{}}
}

// add adds a socket, and returns the one that has to be closed for it, nil if there was room.
func (h *handshakes) add(s *socket) *socket {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sockets = append(h.sockets, s)
	h.from[s.address]++
	if len(h.sockets) <= h.most {
		return nil
	}
	most := slices.Max(slices.Collect(maps.Values(h.from)))
	at := slices.IndexFunc(h.sockets, func(s *socket) bool { return h.from[s.address] == most })
	oldest := h.sockets[at]
	h.drop(at)
	return oldest
}

// remove removes a socket that is acknowledged, or closed.
func (h *handshakes) remove(s *socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := slices.Index(h.sockets, s); at >= 0 {
		h.drop(at)
	}
}

func (h *handshakes) drop(at int) {
	address := h.sockets[at].address
	h.sockets = slices.Delete(h.sockets, at, at+1)
	if h.from[address]--; h.from[address] == 0 {
		delete(h.from, address)
	}
}

// awaitInit puts the socket among those that are not acknowledged yet.
func (s *socket) awaitInit() {
	if oldest := s.handshakes.add(s); oldest != nil {
		go oldest.end(tooManyHandshakes(s.Handshakes))
	}
}

// tooManyHandshakes returns the reason to close the oldest of more handshakes than there may be.
func tooManyHandshakes(most int) closeReason {
	return limitReached(fault.New(fault.ServerUnavailable,
		"At most %d sockets may wait for their connection_init (--max-handshakes); this was the oldest.", most))
}
