package jsregexp

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cachedBytes is how many bytes of programs and their patterns an engine keeps.
const cachedBytes = 4 << 20

// programs are those of the patterns that were used last, at most cachedBytes of them. It is safe for concurrent use.
type programs struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[string, *program]
	bytes int
}

func newPrograms() (*programs, error) {
	c := &programs{}
	var err error
	c.lru, err = simplelru.NewLRU(math.MaxInt, func(pattern string, p *program) { c.bytes -= len(pattern) + p.size() })
	return c, err
}

// get returns the program of a pattern, nil if there is none.
func (c *programs) get(pattern string) *program {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, _ := c.lru.Get(pattern)
	return p
}

// add keeps the program of a pattern, and drops what was used least recently if there is no room.
func (c *programs) add(pattern string, p *program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Remove(pattern)
	c.lru.Add(pattern, p)
	for c.bytes += len(pattern) + p.size(); c.bytes > cachedBytes; {
		c.lru.RemoveOldest()
	}
}
