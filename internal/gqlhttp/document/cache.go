package document

import "sync"

// maxKept is about how many bytes the documents of one generation may take.
const maxKept = 8 << 20

// cache keeps documents by their text in two generations: when the young one has size documents, or
// maxKept bytes, it becomes the old one, and the old one is forgotten. What is in use moves on to the
// young one.
type cache struct {
	size       int
	mu         sync.Mutex
	young, old map[string]*Document
	bytes      int
}

func (c *cache) get(text string) (*Document, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if doc, ok := c.young[text]; ok {
		return doc, true
	}
	doc, ok := c.old[text]
	if ok {
		c.put(text, doc)
	}
	return doc, ok
}

func (c *cache) add(text string, doc *Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(text, doc)
}

func (c *cache) put(text string, doc *Document) {
	bytes := doc.Bytes()
	if c.young == nil || len(c.young) >= c.size || c.bytes+bytes > maxKept {
		c.young, c.old, c.bytes = map[string]*Document{}, c.young, 0
	}
	if _, kept := c.young[text]; !kept {
		c.bytes += bytes
	}
	c.young[text] = doc
}
