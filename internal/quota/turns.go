package quota

import (
	"context"
	"slices"
	"sync"
	"time"

	"slipway/internal/fault"
)

// Turns bounds how much of something the whole process does at once, and so the memory that it takes. Who finds no
// room waits. The callers that wait take turns, whatever each of them has waiting, so that one who sends much delays
// itself and not the others. A nil Turns has no limit.
type Turns struct {
	limit Limit
	mu    sync.Mutex
	taken int
	// waiting are the callers that wait, the next one first.
	waiting []*queue
	callers map[string]*queue
}

// queue is what waits of one caller, longest first: channels that are closed when their turn comes.
type queue struct {
	key   string
	turns []chan struct{}
}

// NewTurns returns Turns of the limit: Max at once, and Wait for how long at most one more waits. Without a positive
// Max there is no limit.
func NewTurns(l Limit) *Turns {
	return &Turns{limit: l, callers: map[string]*queue{}}
}

// Take waits for a turn of the caller of the key; Leave must be called after it. The error is fault's
// ServerUnavailable if none came within the limit's time, and RequestTimeout if the context ended first.
func (t *Turns) Take(ctx context.Context, key string) error {
	if t == nil || t.limit.Max <= 0 {
		return nil
	}
	turn := t.take(key)
	if turn == nil {
		return nil
	}
	timer := time.NewTimer(t.limit.Wait)
	defer timer.Stop()
	var err error
	select {
	case <-turn:
		return nil
	case <-timer.C:
		err = t.errBusy()
	case <-ctx.Done():
		err = fault.New(fault.RequestTimeout, "The request was given up while it waited for its turn.").WithCause(ctx.Err())
	}
	if !t.quit(key, turn) {
		return nil // the turn came at the same moment
	}
	return err
}

// take takes a turn if there is room. Otherwise it joins the caller's queue and returns the channel to wait for.
func (t *Turns) take(key string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken < t.limit.Max {
		t.taken++
		return nil
	}
	q := t.callers[key]
	if q == nil {
		q = &queue{key: key}
		t.callers[key] = q
		t.waiting = append(t.waiting, q)
	}
	turn := make(chan struct{})
	q.turns = append(q.turns, turn)
	return turn
}

// quit leaves the queue, and reports whether it was still waiting.
func (t *Turns) quit(key string, turn chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.callers[key]
	if q == nil {
		return false
	}
	at := slices.Index(q.turns, turn)
	if at < 0 {
		return false
	}
	q.turns = slices.Delete(q.turns, at, at+1)
	if len(q.turns) == 0 {
		delete(t.callers, key)
		t.waiting = slices.DeleteFunc(t.waiting, func(each *queue) bool { return each == q })
	}
	return true
}

// Leave ends a turn. The next is the one that has waited longest of the caller who comes first; that caller then
// comes last.
func (t *Turns) Leave() {
	if t == nil || t.limit.Max <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		t.taken--
		return
	}
	q := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	close(q.turns[0])
	if q.turns = slices.Delete(q.turns, 0, 1); len(q.turns) > 0 {
		t.waiting = append(t.waiting, q)
	} else {
		delete(t.callers, q.key)
	}
}

// TakeBack takes a turn again after Leave, for who is in the middle of something. It waits as Take does, but where no
// turn comes it goes on without one to spare.
func (t *Turns) TakeBack(ctx context.Context, key string) {
	if err := t.Take(ctx, key); err != nil {
		t.mu.Lock()
		t.taken++
		t.mu.Unlock()
	}
}

func (t *Turns) errBusy() error {
	e := fault.New(fault.ServerUnavailable, "The server does %d %s at once (%s), and none came to its end within %s; nothing was run.",
		t.limit.Max, t.limit.Of, t.limit.Flag, t.limit.Wait)
	e.Metadata = map[string]any{"limit": t.limit.Name, "value": t.limit.Max, "retryAfterSeconds": retryAfter}
	return e
}
