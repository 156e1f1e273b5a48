package auth

import (
	"sync"
	"time"

	"slipway/internal/actor"
)

const (
	// goodFor is how long an answer of the Verifier is used, counted from the question: the longest time
	// for which a token still works after it was revoked.
	goodFor = 5 * time.Second
	// unknownFor is how long a token that is unknown is taken for that. No token becomes valid within: one
	// that is created later is drawn then, and nobody can have sent it before.
	unknownFor = 10 * time.Second
	// maxTokens bounds each of the two memories. They are apart, so that made-up tokens, however many, do
	// not make the server forget the good ones.
	maxTokens = 10_000
)

// answer is what the Verifier said of a good token. An old one is not believed any more, but still tells
// that the token was good here before.
type answer struct {
	actor     actor.Actor
	expiresAt time.Time
	asked     time.Time
}

// seen is what is remembered of a token.
type seen int

const (
	never   seen = iota
	good         // and the answer can be used
	stale        // it was good, and has to be asked for again
	unknown      // or expired
)

// memory is what the Verifier said lately of which token, by the token's hash.
type memory struct {
	mu      sync.RWMutex
	good    *recent[string, answer]
	unknown *recent[string, time.Time]
}

func newMemory() *memory {
	return &memory{good: newRecent[string, answer](maxTokens), unknown: newRecent[string, time.Time](maxTokens)}
}

func (m *memory) recall(hash string, now time.Time) (answer, seen) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if asked, ok := m.unknown.get(hash); ok && now.Sub(asked) < unknownFor {
		return answer{}, unknown
	}
	said, ok := m.good.get(hash)
	switch {
	case !ok:
		return answer{}, never
	case now.Sub(said.asked) >= goodFor:
		return answer{}, stale
	case !said.expiresAt.IsZero() && !now.Before(said.expiresAt):
		return answer{}, unknown
	default:
		return said, good
	}
}

func (m *memory) addGood(hash string, said answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.good.put(hash, said)
}

func (m *memory) addUnknown(hash string, asked time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unknown.put(hash, asked)
	m.good.drop(hash)
}
