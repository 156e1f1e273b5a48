package httpx

// Addresses is how many addresses are remembered.
func (c *Connections) Addresses() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.count)
}
