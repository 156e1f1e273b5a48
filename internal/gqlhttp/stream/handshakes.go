package stream

import (
	"maps"
	"slices"
	"sync"

	"slipway/internal/fault"
)

// backlog are the sockets that are not acknowledged yet, oldest first. Whose they are is not known, so they
// are bounded apart from those that are acknowledged, and where there are too many it is an address with
// the most of them that loses its oldest.
type backlog struct {
	most    int
	mu      sync.Mutex
	sockets []*socket
	from    map[string]int // how many of them each address has
}

func newBacklog(most int) *backlog {
	return &backlog{most: most, from: map[string]int{}}
}

// add takes a socket in, and returns the one that has to go for it, nil where there was room.
func (b *backlog) add(s *socket) *socket {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sockets = append(b.sockets, s)
	b.from[s.address]++
	if len(b.sockets) <= b.most {
		return nil
	}
	most := slices.Max(slices.Collect(maps.Values(b.from)))
	at := slices.IndexFunc(b.sockets, func(s *socket) bool { return b.from[s.address] == most })
	oldest := b.sockets[at]
	b.drop(at)
	return oldest
}

// remove takes out a socket that is acknowledged, or gone.
func (b *backlog) remove(s *socket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := slices.Index(b.sockets, s); at >= 0 {
		b.drop(at)
	}
}

func (b *backlog) drop(at int) {
	address := b.sockets[at].address
	b.sockets = slices.Delete(b.sockets, at, at+1)
	if b.from[address]--; b.from[address] == 0 {
		delete(b.from, address)
	}
}

// awaitInit puts the socket among those that are not acknowledged yet.
func (s *socket) awaitInit() {
	if oldest := s.handshakes.add(s); oldest != nil {
		go oldest.end(overflow(s.Handshakes))
	}
}

func overflow(most int) closing {
	return tryAgainAs(fault.New(fault.ServerUnavailable,
		"At most %d sockets may wait for their connection_init (--max-handshakes); this was the oldest.", most))
}
