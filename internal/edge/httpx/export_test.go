package httpx

import "net/netip"

// Addresses returns how many addresses are remembered.
func (c *Connections) Addresses() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.of)
}

// Count returns how many connections of an IPv4 address are counted within the limit, and how many over it.
func (c *Connections) Count(address string) [2]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.of[network(netip.MustParseAddr(address))]
	if s == nil {
		return [2]int{}
	}
	return [2]int{s.count[within], s.count[over]}
}
