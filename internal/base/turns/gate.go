// Package turns bounds how much of something is done at once: by one caller (Gate), and by the whole process, where
// those who wait take turns (Turns). So no caller takes what the others need.
package turns

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"slipway/internal/base/fault"
)

// Limit is how many of something a caller may have at once.
type Limit struct {
	// Name is the limit's name in the metadata of errors, Flag the setting that it comes from.
	Name, Flag string
	// Of names what is counted, such as "requests in flight", and By who has it, such as "An organization"; empty is "A
	// caller".
	Of, By string
	// Max is how many of them a caller may have; without a positive number there is no limit. MaxOf returns that of a
	// key if it differs and changes, at least 1; nil elsewhere.
	Max   int
	MaxOf func(key string) int
	// Wait is how long one more waits for a slot; 0 refuses it at once.
	Wait time.Duration
	// Queue is how many of a caller may wait at once.
	Queue int
}

// Gate bounds how many of something each caller has at once. It keeps only the callers that have or wait for some. A
// nil Gate has no limit.
type Gate struct {
	limit   Limit
	mu      sync.Mutex
	callers map[string]*room
}

// NewGate returns a Gate of the limit.
func NewGate(l Limit) *Gate {
	return &Gate{limit: l, callers: map[string]*room{}}
}

// isOpen reports whether there is no limit.
func (g *Gate) isOpen() bool { return g == nil || g.limit.Max <= 0 && g.limit.MaxOf == nil }

// most returns how many the caller of a key may have.
func (g *Gate) most(key string) int {
	if g.limit.MaxOf != nil {
		return g.limit.MaxOf(key)
	}
	return g.limit.Max
}

// Enter takes a slot for the caller of the key, and returns the function that frees it, which may be called more than
// once. If all slots are taken it waits as the Limit says. The error is fault's RequestRateLimited if no slot came
// free, and RequestTimeout if the context ended first.
func (g *Gate) Enter(ctx context.Context, key string) (leave func(), err error) {
	if g.isOpen() {
		return func() {}, nil
	}
	turn, err := g.take(key)
	if err == nil && turn != nil {
		err = g.await(ctx, key, turn)
	}
	if err != nil {
		return nil, err
	}
	var left atomic.Bool
	return func() {
		if !left.Swap(true) {
			g.leave(key)
		}
	}, nil
}

// take takes a free slot. If there is none it joins the queue and returns the channel to wait for.
func (g *Gate) take(key string) (turn chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r, most := g.room(key), g.most(key)
	if r.taken >= most && (g.limit.Wait <= 0 || len(r.line.waiting) >= g.limit.Queue) {
		return nil, g.errLimited()
	}
	return r.enter(most), nil
}

// room returns that of a caller, under the mutex. It is kept while somebody is in it.
func (g *Gate) room(key string) *room {
	r := g.callers[key]
	if r == nil {
		r = &room{}
		g.callers[key] = r
	}
	return r
}

func (g *Gate) await(ctx context.Context, key string, turn chan struct{}) error {
	err := await(ctx, turn, g.limit.Wait, g.errLimited, "others of its caller")
	if err == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.callers[key]; r == nil || !r.line.quit(turn) {
		return nil // the turn came at the same moment
	}
	return err
}

// leave frees a slot, or passes it to the one that has waited longest.
func (g *Gate) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.callers[key]
	if r.leave(g.most(key)); r.taken == 0 {
		delete(g.callers, key)
	}
}

// Lend frees a slot of the caller for as long as its holder waits for something else; TakeBack must follow.
func (g *Gate) Lend(key string) {
	if !g.isOpen() {
		g.leave(key)
	}
}

// TakeBack takes a slot again that was lent. Whoever came meanwhile keeps theirs, so the caller may have more than its
// limit for a time.
func (g *Gate) TakeBack(key string) {
	if g.isOpen() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.room(key).taken++
}

// Callers returns how many callers have something.
func (g *Gate) Callers() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.callers)
}

// retryAfter is how many seconds a refused caller is asked to wait.
const retryAfter = 1

func (g *Gate) errLimited() error {
	e := fault.New(fault.RequestRateLimited, "%s may have at most %d %s at once (%s); this would be one more.",
		cmp.Or(g.limit.By, "A caller"), g.limit.Max, g.limit.Of, g.limit.Flag)
	e.Metadata = map[string]any{"limit": g.limit.Name, "value": g.limit.Max, "retryAfterSeconds": retryAfter}
	return e
}
