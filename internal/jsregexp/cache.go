package jsregexp

import (
	"github.com/hashicorp/golang-lru/v2/simplelru"
	"modernc.org/quickjs"
)

// How many patterns a cache keeps, and how many bytes of them.
const (
	cachedPatterns = 256
	cachedBytes    = 256 << 10
)

// cache has the patterns that a machine used last, compiled. Beside their number it bounds their bytes, for a
// long pattern may take a hundred times the memory of a short one.
type cache struct {
	*simplelru.LRU[string, quickjs.Value]
	bytes int
}

func newCache() (*cache, error) {
	c := &cache{}
	var err error
	c.LRU, err = simplelru.NewLRU(cachedPatterns, func(pattern string, regexp quickjs.Value) {
		c.bytes -= len(pattern)
		regexp.Free()
	})
	return c, err
}

// add keeps a pattern that the cache does not have, at least until the next add.
func (c *cache) add(pattern string, regexp quickjs.Value) {
	c.bytes += len(pattern)
	c.Add(pattern, regexp)
	for c.bytes > cachedBytes && c.Len() > 1 {
		c.RemoveOldest()
	}
}
