package quota

// Callers is how many callers the gate remembers.
func (g *Gate) Callers() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.callers)
}
