// Package meter counts the work that a request causes and the bytes of its answer, and ends the request when either is
// more than allowed. Every loop that can be long calls it (Spend, Answer, Err), and so also learns that the time of the
// request is over or that its caller has gone.
//
// Three things are counted, each in one place: before it runs, what a document may cost (package document); while it
// runs, what that turns out to be, here; and over all requests of a caller, what it may still spend (package quota).
package meter

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"slipway/internal/base/fault"
)

// Limits are the limits of one request. A number that is not positive is no limit.
type Limits struct {
	// Cost is the highest cost of the work.
	Cost int
	// Answer is the largest answer, in bytes.
	Answer int
}

// Place is the part of a request that something is counted for.
type Place interface {
	// Key identifies the context's place; it returns nil if the context has none.
	Key(ctx context.Context) any
	// Path returns the context's place as callers name it.
	Path(ctx context.Context) string
}

// Meter counts for one request. It is safe for concurrent use.
type Meter struct {
	limits Limits
	place  Place
	over   atomic.Pointer[fault.Error]

	// matching is held while a pattern is compiled or tried; slow is whether one took too long. steps are those that
	// patterns have taken, which matching or mu guards to be read and both to be written.
	matching sync.Mutex
	slow     bool
	steps    int

	mu     sync.Mutex
	cost   float64
	bytes  [stages]int
	shares map[any]*share
}

// share is the part of one place in what is counted.
type share struct {
	path  string
	kind  Kind
	cost  float64
	bytes [stages]int
}

// New returns a Meter that has counted cost already. place may be nil; errors name no place then.
func New(limits Limits, cost float64, place Place) *Meter {
	return &Meter{limits: limits, cost: cost, place: place, shares: map[any]*share{}}
}

type key struct{}

// With returns a context whose work m counts.
func With(ctx context.Context, m *Meter) context.Context { return context.WithValue(ctx, key{}, m) }

// From returns the meter of the context, nil if nothing is counted.
func From(ctx context.Context) *Meter {
	m, _ := ctx.Value(key{}).(*Meter)
	return m
}

// Err returns the reason why the context's request must end, if any: its meter is over a limit, or the context has
// ended.
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

// Answer counts bytes of an answer where they arise, and returns what Err does. The limit holds for each stage by
// itself, because later stages count the same bytes again.
func Answer(ctx context.Context, at Stage, bytes int) error {
	m := From(ctx)
	if m == nil {
		return ctx.Err()
	}
	m.count(ctx, at, bytes)
	return Err(ctx)
}

// Write counts bytes that are about to be written, and reports whether they are within the limit.
func (m *Meter) Write(ctx context.Context, bytes int) bool { return m.count(ctx, Written, bytes) }

// maxRead returns how many bytes may be read for an answer of so many.
func maxRead(answer int) int { return answer + answer/4 }

// Hold ends the request if its whole answer, of so many bytes, is over the limit.
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
	limit := m.limits.Answer
	if at == Read {
		limit = maxRead(limit)
	}
	fits = limit <= 0 || m.bytes[at] <= limit
	if !fits {
		m.over.CompareAndSwap(nil, m.tooLarge(at))
	}
	return fits
}

// HasRoom reports whether the request may cost n more units of a kind of work.
func HasRoom(ctx context.Context, k Kind, n int) bool {
	m := From(ctx)
	if m == nil || m.limits.Cost <= 0 {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost+float64(n)*weights[k].each <= float64(m.limits.Cost)
}

// Over returns an error if the meter is over a limit, else nil.
func (m *Meter) Over() *fault.Error { return m.over.Load() }

// Add counts work of a kind by its cost, which is negative to correct what was counted too high before.
func (m *Meter) Add(ctx context.Context, k Kind, cost float64) { m.add(ctx, k, cost) }

// Cost returns what the work has cost so far, rounded up.
func (m *Meter) Cost() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Round(m.cost)
}

// Charge returns what the request takes from its caller's bucket: its cost, and the steps of its patterns. The cost
// alone is a matter of what the request asks for.
func (m *Meter) Charge() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Round(m.cost + float64(m.steps)/stepsPerCost)
}

// CompilePattern calls compile with how many steps the request's patterns may still take, and counts those that it
// took. Fields that are resolved concurrently compile and try their patterns one at a time.
func CompilePattern(ctx context.Context, compile func(steps int) (taken int)) {
	m := From(ctx)
	if m == nil {
		compile(math.MaxInt)
		return
	}
	m.matching.Lock()
	defer m.matching.Unlock()
	m.take(compile(patternSteps - m.steps))
}

// TryPattern does the same with try, which also reports whether its pattern took too long. After one that did, the
// request tries no other pattern, and TryPattern returns false.
func TryPattern(ctx context.Context, try func(steps int) (taken int, slow bool)) bool {
	m := From(ctx)
	if m == nil {
		try(math.MaxInt)
		return true
	}
	m.matching.Lock()
	defer m.matching.Unlock()
	if m.slow {
		return false
	}
	taken, slow := try(patternSteps - m.steps)
	m.slow = slow
	m.take(taken)
	return true
}

func (m *Meter) take(steps int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps += steps
}

// Round returns a cost as callers see it, rounded up.
func Round(cost float64) int {
	const epsilon = 1e-6 // the error in sums of tenths
	return int(math.Ceil(min(cost-epsilon, math.MaxInt32)))
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
		m.cost = float64(m.limits.Cost) // work beyond the limit is not done
	}
}

// maxShares is how many places are counted apart.
const maxShares = 1000

// share returns the share of the context's place, nil if it is not counted apart.
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
