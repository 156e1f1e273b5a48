package auth

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"slipway/internal/base/actor"
)

const (
	// goodFor is how long an answer of the Verifier is used, counted from the question: the longest time for
	// which a token still works after it was revoked.
	goodFor = 5 * time.Second
	// unknownFor is how long a token is taken for unknown without asking again. No token becomes valid in that
	// time: one that is created later is drawn later, and nobody can have sent it before.
	unknownFor = 10 * time.Second
	// maxTokens bounds each of the caches.
	maxTokens = 10_000
)

// newCache returns a cache of the entries that were used last. Not lru's expirable cache: that takes the time
// from the machine's clock, forgets what has expired, of which we still want to know that it was good, and never
// ends its goroutine.
func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // sizes are constants above 0
	}
	return c
}

// verdict is the Verifier's answer for a valid token.
type verdict struct {
	actor     actor.Actor
	expiresAt time.Time
	asked     time.Time
}

// cacheState is what the cache knows of a token.
type cacheState int

const (
	absent  cacheState = iota
	good               // the verdict can be used
	stale              // the token was good, and has to be verified again
	unknown            // or expired
)

// tokenCache has the Verifier's latest answers by the hash of the token. Valid and unknown tokens are apart, so
// that made-up tokens, however many, do not take the place of valid ones.
type tokenCache struct {
	good    *lru.Cache[string, verdict]
	unknown *lru.Cache[string, time.Time]
}

func newTokenCache() *tokenCache {
	return &tokenCache{good: newCache[string, verdict](maxTokens), unknown: newCache[string, time.Time](maxTokens)}
}

// get returns what is known of a token; there is a verdict only for a good one.
func (c *tokenCache) get(hash string, now time.Time) (verdict, cacheState) {
	if asked, ok := c.unknown.Get(hash); ok && now.Sub(asked) < unknownFor {
		return verdict{}, unknown
	}
	v, ok := c.good.Get(hash)
	switch {
	case !ok:
		return verdict{}, absent
	case now.Sub(v.asked) >= goodFor:
		return verdict{}, stale
	case !v.expiresAt.IsZero() && !now.Before(v.expiresAt):
		return verdict{}, unknown
	default:
		return v, good
	}
}

func (c *tokenCache) addGood(hash string, v verdict) { c.good.Add(hash, v) }

// addUnknown marks a token as unknown. A verdict that is added later for an earlier question does not count:
// unknownFor is longer than it would be used.
func (c *tokenCache) addUnknown(hash string, asked time.Time) {
	c.unknown.Add(hash, asked)
	c.good.Remove(hash)
}
