package auth

// Queues returns how many addresses have a queue of look-ups.
func (a *Authenticator) Queues() int { return a.limiter.lookups.Callers() }
