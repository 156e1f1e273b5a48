package jsregexp

// Rewrite is rewrite, for the oracle.
var Rewrite = rewrite

// CachedBytes returns how many bytes the engine's programs take, and the most that they may.
func (e *Engine) CachedBytes() (bytes, most int) {
	e.programs.mu.Lock()
	defer e.programs.mu.Unlock()
	return e.programs.bytes, cachedBytes
}

// KeptStack returns how many words the engine's machines keep, and the most that each may.
func (e *Engine) KeptStack() (words, most int) {
	for range cap(e.idle) {
		m := <-e.idle
		words = max(words, cap(m.matcher.stack))
		e.idle <- m
	}
	return words, keptStack
}
