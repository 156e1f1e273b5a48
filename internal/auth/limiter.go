package auth

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"slipway/internal/fault"
)

const (
	// maxFailures is how many attempts of one address may fail within the window.
	maxFailures   = 20
	failureWindow = time.Minute
	maxAddresses  = 10_000
)

// limiter remembers when the authentications of each client address failed. It is exact: no window of
// a minute has more than maxFailures, but for attempts that were under way at the same time. Under an
// attack from more than maxAddresses the longest quiet ones are forgotten, so memory stays bounded.
type limiter struct {
	mu       sync.Mutex
	failures *recent[netip.Prefix, []time.Time]
}

// budget is what is left to an address.
type budget struct {
	remaining int
	// reset is the time until there is more.
	reset time.Duration
}

func newLimiter() *limiter {
	return &limiter{failures: newRecent[netip.Prefix, []time.Time](maxAddresses)}
}

func (l *limiter) budget(address netip.Prefix, now time.Time) budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := l.within(address, now)
	if len(times) == 0 {
		return budget{remaining: maxFailures}
	}
	return budget{remaining: maxFailures - len(times), reset: times[0].Add(failureWindow).Sub(now)}
}

func (l *limiter) fail(address netip.Prefix, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := append(l.within(address, now), now)
	// Attempts at the same time may go over the limit; which of them are forgotten changes nothing.
	l.failures.put(address, times[max(0, len(times)-maxFailures):])
}

// within gives the failures of an address that still count, oldest first.
func (l *limiter) within(address netip.Prefix, now time.Time) []time.Time {
	times, _ := l.failures.get(address)
	for len(times) > 0 && now.Sub(times[0]) >= failureWindow {
		times = times[1:]
	}
	return times
}

// seconds is the time until there is more, in whole seconds, rounded up.
func (b budget) seconds() int { return int((b.reset + time.Second - 1) / time.Second) }

func (b budget) err() error {
	if b.remaining > 0 {
		return nil
	}
	refusal := fault.New(fault.RequestRateLimited,
		"Too many failed authentications from this address: %d a minute are allowed. Try again in %d s.", maxFailures, b.seconds())
	refusal.Metadata = map[string]any{"retryAfterSeconds": b.seconds()}
	return refusal
}

func (b budget) write(h http.Header) {
	h.Set("RateLimit-Limit", strconv.Itoa(maxFailures))
	h.Set("RateLimit-Remaining", strconv.Itoa(b.remaining))
	h.Set("RateLimit-Reset", strconv.Itoa(b.seconds()))
}

// clientAddress is whom failures are counted for: an IPv4 address, or the /64 of an IPv6 one, which
// is what one customer of a provider has. What is no address shares one place.
func clientAddress(r *http.Request) netip.Prefix {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address := remote.Addr().Unmap()
	bits := 64
	if address.Is4() {
		bits = 32
	}
	// The widths are within those of their families, which is all that Prefix refuses.
	network, _ := address.Prefix(bits)
	return network
}
