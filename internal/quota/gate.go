// Package quota bounds what each caller may have, cost to spend and requests, streams and sockets at once, so
// that none takes what the others need.
package quota

import (
	"context"
	"slices"
	"sync"
	"time"

	"slipway/internal/fault"
)

// Limit is how many of something a caller may have at once.
type Limit struct {
	// Name is what an error's metadata call the limit, Flag the setting that it comes from.
	Name, Flag string
	// Of names what is counted, such as "requests in flight".
	Of string
	// Max is how many of them a caller may have; without a positive number there is no limit.
	Max int
	// Wait is how long one more waits for a place, 0 to refuse it at once.
	Wait time.Duration
	// Queue is how many of a caller's may wait at once.
	Queue int
}

// Gate counts what callers have, each for itself. It remembers those only who have something. A nil Gate
// is without limit.
type Gate struct {
	limit   Limit
	mu      sync.Mutex
	callers map[string]*places
}

// places are those that a caller has. The queue holds those who wait, longest first; each is a channel
// that is closed when its place has come.
type places struct {
	taken int
	queue []chan struct{}
}

// New returns a Gate of the limit.
func New(l Limit) *Gate {
	return &Gate{limit: l, callers: map[string]*places{}}
}

// Enter takes a place for the caller whom key names, and returns the function that gives it back, which
// may be called more than once. Where all places are taken it waits as the Limit says. The error is fault's
// RequestRateLimited where no place came free, RequestTimeout where the context ended first.
func (g *Gate) Enter(ctx context.Context, key string) (leave func(), err error) {
	if g == nil || g.limit.Max <= 0 {
		return func() {}, nil
	}
	place, err := g.take(key)
	if err == nil && place != nil {
		err = g.await(ctx, key, place)
	}
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { g.leave(key) }), nil
}

// take takes a free place. Where there is none it joins the queue and returns the place to wait for.
func (g *Gate) take(key string) (chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.callers[key]
	if p == nil {
		p = &places{}
		g.callers[key] = p
	}
	switch {
	case p.taken < g.limit.Max:
		p.taken++
		return nil, nil
	case g.limit.Wait <= 0 || len(p.queue) >= g.limit.Queue:
		return nil, g.refusal()
	}
	place := make(chan struct{})
	p.queue = append(p.queue, place)
	return place, nil
}

func (g *Gate) await(ctx context.Context, key string, place chan struct{}) error {
	late := time.NewTimer(g.limit.Wait)
	defer late.Stop()
	var err error
	select {
	case <-place:
		return nil
	case <-late.C:
		err = g.refusal()
	case <-ctx.Done():
		err = fault.New(fault.RequestTimeout, "The request was given up while it waited for others of its caller.").WithCause(ctx.Err())
	}
	if !g.quit(key, place) {
		return nil // the place came in the same moment
	}
	return err
}

// quit leaves the queue, and reports false for a place that has come already.
func (g *Gate) quit(key string, place chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.callers[key]
	if p == nil {
		return false
	}
	at := slices.Index(p.queue, place)
	if at < 0 {
		return false
	}
	p.queue = slices.Delete(p.queue, at, at+1)
	return true
}

// leave gives a place back, to whoever has waited longest.
func (g *Gate) leave(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.callers[key]
	if len(p.queue) > 0 {
		close(p.queue[0])
		p.queue = slices.Delete(p.queue, 0, 1)
		return
	}
	if p.taken--; p.taken == 0 {
		delete(g.callers, key)
	}
}

// retryAfter is how many seconds a refused caller is asked to wait.
const retryAfter = 1

func (g *Gate) refusal() error {
	e := fault.New(fault.RequestRateLimited, "A caller may have at most %d %s at once (%s); this would be one more.",
		g.limit.Max, g.limit.Of, g.limit.Flag)
	e.Metadata = map[string]any{"limit": g.limit.Name, "value": g.limit.Max, "retryAfterSeconds": retryAfter}
	return e
}
