package jsregexp

import (
	"container/list"

	"modernc.org/quickjs"
)

// What a cache keeps: so many patterns, and so many bytes of them.
const (
	cachedPatterns = 256
	cachedBytes    = 256 << 10
)

// cache has the compiled patterns of one machine, those used last. Its zero value is empty.
type cache struct {
	entries map[string]*list.Element
	// recent has an entry for each pattern, the one used last in front.
	recent list.List
	bytes  int
}

type entry struct {
	pattern string
	regexp  quickjs.Value
}

func (c *cache) get(pattern string) (quickjs.Value, bool) {
	element, ok := c.entries[pattern]
	if !ok {
		return quickjs.Value{}, false
	}
	c.recent.MoveToFront(element)
	return element.Value.(*entry).regexp, true
}

// add keeps regexp, at least until the next add.
func (c *cache) add(pattern string, regexp quickjs.Value) {
	if c.entries == nil {
		c.entries = make(map[string]*list.Element, cachedPatterns)
	}
	c.entries[pattern] = c.recent.PushFront(&entry{pattern, regexp})
	c.bytes += len(pattern)
	for c.recent.Len() > 1 && (c.recent.Len() > cachedPatterns || c.bytes > cachedBytes) {
		c.drop(c.recent.Back())
	}
}

func (c *cache) clear() {
	for c.recent.Len() > 0 {
		c.drop(c.recent.Back())
	}
}

func (c *cache) drop(element *list.Element) {
	dropped := c.recent.Remove(element).(*entry)
	delete(c.entries, dropped.pattern)
	c.bytes -= len(dropped.pattern)
	dropped.regexp.Free()
}
