package turns

import (
	"context"
	"sync"

	"slipway/internal/base/fault"
)

// Turns bounds how much of something the whole process does at once, and so the memory that it takes. A caller that
// finds no room waits. Organizations that wait take turns, and within one its callers, whatever each of them has
// waiting. So an organization that sends much, by however many tokens, delays itself and not the others. A nil Turns
// has no limit.
//
// A turn is for what the process does by itself, such as a read of the database. Who waits for somebody else, such as a
// client that is sent something, leaves before and takes another turn after.
type Turns struct {
	limit Limit
	mu    sync.Mutex
	// room has a line of organizations, and in each of them one of callers.
	room room
}

// New returns Turns of the limit: Max at once, and Wait for how long at most one more waits, which without a
// positive one is as long as its context lasts. Without a positive Max there is no limit.
func New(l Limit) *Turns { return &Turns{limit: l} }

// Take waits for a turn of the caller; Leave must be called after it. The error is fault's ServerUnavailable if none
// came within the limit's time, and RequestTimeout if the context ended first.
func (t *Turns) Take(ctx context.Context, c Caller) error {
	if t == nil || t.limit.Max <= 0 {
		return nil
	}

	t.mu.Lock()
	turn := t.room.enter(t.limit.Max, c.Organization, c.Key)
	t.mu.Unlock()
	if turn == nil {
		return nil
	}

	err := await(ctx, turn, t.limit.Wait, t.errBusy, "its turn")
	if err == nil {
		return nil
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.room.line.quit(turn, c.Organization, c.Key) {
		return nil // the turn came at the same moment
	}
	return err
}

// Leave ends a turn. The next one is that of who has waited longest of the caller who comes first in the organization
// that comes first.
func (t *Turns) Leave() {
	if t == nil || t.limit.Max <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.room.leave(t.limit.Max)
}

// TakeBack takes a turn again after Leave, for who is in the middle of something. It waits as Take does, but if no
// turn comes it goes on without one to spare: until as many have left, nobody else is let in for those who do.
func (t *Turns) TakeBack(ctx context.Context, c Caller) {
	if err := t.Take(ctx, c); err != nil {
		t.mu.Lock()
		t.room.taken++
		t.mu.Unlock()
	}
}

// Taken returns how many turns are taken, and how many wait for one.
func (t *Turns) Taken() (taken, waiting int) {
	if t == nil {
		return 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.room.taken, t.room.line.length()
}

// Max returns how many turns there are, 0 for no limit.
func (t *Turns) Max() int {
	if t == nil {
		return 0
	}
	return max(t.limit.Max, 0)
}

func (t *Turns) errBusy() error {
	e := fault.New(fault.ServerUnavailable,
		"The server does %d %s at once (%s), and none came to its end within %s; nothing was run.",
		t.limit.Max, t.limit.Of, t.limit.Flag, t.limit.Wait)
	e.Metadata = map[string]any{"limit": t.limit.Name, "value": t.limit.Max, "retryAfterSeconds": retryAfter}
	return e
}
