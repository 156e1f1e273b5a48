package gqlhttp

import "sync"

// cache keeps documents by their text in two generations: when the young one has size documents it
// becomes the old one, and the old one is forgotten. What is in use moves on to the young one.
type cache struct {
	size       int
	mu         sync.Mutex
	young, old map[string]*document
}

func (c *cache) get(text string) (*document, bool) {
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

func (c *cache) add(text string, doc *document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(text, doc)
}

func (c *cache) put(text string, doc *document) {
	if c.young == nil || len(c.young) >= c.size {
		c.young, c.old = make(map[string]*document, c.size), c.young
	}
	c.young[text] = doc
}
