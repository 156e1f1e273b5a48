package document

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxCacheBytes is about how many bytes the documents of a cache may take.
const maxCacheBytes = 16 << 20

// cache keeps the documents that were used last, by their texts. The library bounds their number and finds the one that
// was not used for longest; what they take in memory is counted here.
type cache struct {
	mu        sync.Mutex
	documents *simplelru.LRU[string, *Document]
	bytes     int
}

// newCache returns a cache of at most size documents, of at least one.
func newCache(size int) *cache {
	c := &cache{}
	documents, err := simplelru.NewLRU(max(size, 1), func(_ string, evicted *Document) { c.bytes -= evicted.Bytes() })
	if err != nil {
		panic(err) // which is only for a size below 1
	}
	c.documents = documents
	return c
}

func (c *cache) get(text string) (*Document, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.documents.Get(text)
}

// add keeps a document. Of two requests that have parsed the same text at once the first one's stays.
func (c *cache) add(text string, doc *Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes := doc.Bytes()
	if bytes > maxCacheBytes || c.documents.Contains(text) {
		return
	}
	c.bytes += bytes
	c.documents.Add(text, doc)
	for c.bytes > maxCacheBytes {
		c.documents.RemoveOldest()
	}
}
