// Package quota bounds what each caller may use: the cost of its requests (Buckets), how many requests, streams and
// sockets it has at once (Gate), and who comes next where all share something (Turns). So no caller takes what the others
// need.
package quota

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"slipway/internal/fault"
)

// Limit is how many of something a caller may have at once.
type Limit struct {
	// Name is the limit's name in the metadata of errors, Flag the setting that it comes from.
	Name, Flag string
	// Of names what is counted, such as "requests in flight", and By who has it, such as "An organization"; empty is "A caller".
	Of, By string
	// Max is how many of them a caller may have; without a positive number there is no limit.
	Max int
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
	callers map[string]*slots
}

// slots are those of one caller. The queue has a channel for each that waits, longest first, which is closed when it
// gets its slot.
type slots struct {
	taken int
	queue []chan struct{}
}

// New returns a Gate of the limit.
func New(l Limit) *Gate {
	return &Gate{limit: l, callers: map[string]*slots{}}
}

// Enter takes a slot for the caller of the key, and returns the function that frees it, which may be called more than
// once. If all slots are taken it waits as the Limit says. The error is fault's RequestRateLimited if no slot came
// free, and RequestTimeout if the context ended first.
func (g *Gate) Enter(ctx context.Context, key string) (leave func(), err error) {
	if g == nil || g.limit.Max <= 0 {
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
func (g *Gate) take(key string) (chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.callers[key]
	if s == nil {
		s = &slots{}
		g.callers[key] = s
	}
	switch {
	case s.taken < g.limit.Max:
		s.taken++
		return nil, nil
	case g.limit.Wait <= 0 || len(s.queue) >= g.limit.Queue:
		return nil, g.errLimited()
	}
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	return turn, nil
}

func (g *Gate) await(ctx context.Context, key string, turn chan struct{}) error {
	timer := time.NewTimer(g.limit.Wait)
	defer timer.Stop()
	var err error
	select {
	case <-turn:
		return nil
	case <-timer.C:
		err = g.errLimited()
	case <-ctx.Done():
		err = fault.New(fault.RequestTimeout, "The request was given up while it waited for others of its caller.").WithCause(ctx.Err())
	}
	if !g.quit(key, turn) {
		return nil // the turn came at the same moment
	}
	return err
}

// quit leaves the queue, and reports whether it was still waiting.
func (g *Gate) quit(key string, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.callers[key]
	if s == nil {
		return false
	}
	at := slices.Index(s.queue, turn)
	if at < 0 {
		return false
	}
	s.queue = slices.Delete(s.queue, at, at+1)
	return true
}

// leave frees a slot, or passes it to the one that has waited longest.
func (g *Gate) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.callers[key]
	if len(s.queue) > 0 && s.taken <= g.limit.Max {
		close(s.queue[0])
		s.queue = slices.Delete(s.queue, 0, 1)
		return
	}
	if s.taken--; s.taken == 0 {
		delete(g.callers, key)
	}
}

// Lend frees a slot of the caller for as long as its holder waits for something else; TakeBack must follow.
func (g *Gate) Lend(key string) {
	if g != nil && g.limit.Max > 0 {
		g.leave(key)
	}
}

// TakeBack takes a slot again that was lent. Whoever came meanwhile keeps theirs, so the caller may have more than its
// limit for a time.
func (g *Gate) TakeBack(key string) {
	if g == nil || g.limit.Max <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.callers[key]
	if s == nil {
		s = &slots{}
		g.callers[key] = s
	}
	s.taken++
}

// retryAfter is how many seconds a refused caller is asked to wait.
const retryAfter = 1

func (g *Gate) errLimited() error {
	e := fault.New(fault.RequestRateLimited, "%s may have at most %d %s at once (%s); this would be one more.",
		cmp.Or(g.limit.By, "A caller"), g.limit.Max, g.limit.Of, g.limit.Flag)
	e.Metadata = map[string]any{"limit": g.limit.Name, "value": g.limit.Max, "retryAfterSeconds": retryAfter}
	return e
}
