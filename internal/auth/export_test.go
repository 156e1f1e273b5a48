package auth

// Lanes is how many addresses have a lane.
func (a *Authenticator) Lanes() int {
	a.limiter.mu.Lock()
	defer a.limiter.mu.Unlock()
	return len(a.limiter.lanes)
}
