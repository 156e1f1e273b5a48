package auth

// Queues returns how many addresses have a queue of look-ups.
func (a *Authenticator) Queues() int {
	a.limiter.mu.Lock()
	defer a.limiter.mu.Unlock()
	return len(a.limiter.queues)
}
