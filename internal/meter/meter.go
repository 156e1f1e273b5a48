// Package meter counts what a request works on and what it answers with, and ends it where that is more
// than it may be. It is asked from every loop that can be long, so it also tells such a loop that the
// request's time is over or that its caller has left.
package meter

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"slipway/internal/fault"
)

// Limits are what one request may come to. A number that is not positive is no limit.
type Limits struct {
	// Cost is what the work may cost.
	Cost int
	// Answer is how many bytes the answer may have.
	Answer int
}

// Place is the part of a request that something is counted for.
type Place interface {
	// Key returns what tells the context's place from others, nil where it has none.
	Key(ctx context.Context) any
	// Path returns how callers name the context's place.
	Path(ctx context.Context) string
}

// Meter counts for one request. It is safe for concurrent use.
type Meter struct {
	limits Limits
	place  Place
	over   atomic.Pointer[fault.Error]

	// matching is held while a pattern is tried; slow says that one took too long.
	matching sync.Mutex
	slow     bool

	mu     sync.Mutex
	cost   float64
	bytes  [stages]int
	shares map[any]*share
}

// share is what one place has come to.
type share struct {
	path  string
	kind  Kind
	cost  float64
	bytes [stages]int
}

// New returns a Meter on which cost stands already. Without a place, refusals name none.
func New(limits Limits, cost float64, place Place) *Meter {
	return &Meter{limits: limits, cost: cost, place: place, shares: map[any]*share{}}
}

type key struct{}

// With returns a context that is counted by m.
func With(ctx context.Context, m *Meter) context.Context { return context.WithValue(ctx, key{}, m) }

// From returns the meter of the context, nil where nothing is counted.
func From(ctx context.Context) *Meter {
	m, _ := ctx.Value(key{}).(*Meter)
	return m
}

// Err returns why the context's request must end: its meter is over a limit, or the context has ended.
func Err(ctx context.Context) error {
	if m := From(ctx); m != nil {
		if over := m.Over(); over != nil {
			return over
		}
	}
	return ctx.Err()
}

// Spend counts n units of a kind of work, and returns what Err does.
func Spend(ctx context.Context, k Kind, n int) error {
	m := From(ctx)
	if m == nil {
		return ctx.Err()
	}
	m.add(ctx, k, float64(n)*weights[k].each)
	return Err(ctx)
}

// Answer counts bytes that an answer will have, where they arise, and returns what Err does. Each stage is
// held to the limit by itself, because later stages count what earlier ones did.
func Answer(ctx context.Context, at Stage, bytes int) error {
	m := From(ctx)
	if m == nil {
		return ctx.Err()
	}
	m.count(ctx, at, bytes)
	return Err(ctx)
}

// Write counts bytes that are about to be written, and reports whether there is room for them.
func (m *Meter) Write(ctx context.Context, bytes int) bool { return m.count(ctx, Written, bytes) }

// readFor is how many bytes may be read for an answer of so many.
func readFor(answer int) int { return answer + answer/4 }

// Hold holds the whole answer, of so many bytes, to its limit.
func (m *Meter) Hold(bytes int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.limits.Answer > 0 && bytes > m.limits.Answer {
		m.over.CompareAndSwap(nil, m.tooLarge(Written))
	}
}

func (m *Meter) count(ctx context.Context, at Stage, bytes int) (fits bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes[at] += bytes
	if s := m.share(ctx); s != nil {
		s.bytes[at] += bytes
	}
	most := m.limits.Answer
	if at == Read {
		most = readFor(most)
	}
	fits = most <= 0 || m.bytes[at] <= most
	if !fits {
		m.over.CompareAndSwap(nil, m.tooLarge(at))
	}
	return fits
}

// HasRoom reports whether n units of a kind of work are within what the request may cost.
func HasRoom(ctx context.Context, k Kind, n int) bool {
	m := From(ctx)
	if m == nil || m.limits.Cost <= 0 {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost+float64(n)*weights[k].each <= float64(m.limits.Cost)
}

// Over returns the refusal once the meter is over a limit, nil before.
func (m *Meter) Over() *fault.Error { return m.over.Load() }

// Add counts work of a kind that costs so much; what was counted too high before may be negative.
func (m *Meter) Add(ctx context.Context, k Kind, cost float64) { m.add(ctx, k, cost) }

// Cost returns what the work has cost so far, rounded up.
func (m *Meter) Cost() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Round(m.cost)
}

// TryPattern calls try, which reports whether its pattern took too long. After one that did, no other is
// tried in all of the request, and TryPattern returns false; so that this holds for fields that are resolved
// at once, one is tried at a time.
func TryPattern(ctx context.Context, try func() (slow bool)) bool {
	m := From(ctx)
	if m == nil {
		try()
		return true
	}
	m.matching.Lock()
	defer m.matching.Unlock()
	if m.slow {
		return false
	}
	m.slow = try()
	return true
}

// Round returns a cost as callers are told it: whole, and rounded up.
func Round(cost float64) int {
	const noise = 1e-6 // sums of tenths
	return int(math.Ceil(min(cost-noise, math.MaxInt32)))
}

func (m *Meter) add(ctx context.Context, k Kind, cost float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost += cost
	if s := m.share(ctx); s != nil && cost > 0 {
		s.cost, s.kind = min(s.cost+cost, float64(m.limits.Cost)), k
	}
	if m.limits.Cost > 0 && Round(m.cost) > m.limits.Cost {
		m.over.CompareAndSwap(nil, m.tooCostly())
		m.cost = float64(m.limits.Cost) // what is beyond is not done
	}
}

// maxShares bounds how many places are told apart.
const maxShares = 1000

func (m *Meter) share(ctx context.Context) *share {
	if m.place == nil {
		return nil
	}
	at := m.place.Key(ctx)
	s := m.shares[at]
	if at != nil && s == nil && len(m.shares) < maxShares {
		s = &share{path: m.place.Path(ctx)}
		m.shares[at] = s
	}
	return s
}
