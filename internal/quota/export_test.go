package quota

// Callers returns how many callers the gate keeps.
func (g *Gate) Callers() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.callers)
}
