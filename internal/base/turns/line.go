package turns

import (
	"context"
	"slices"
	"time"

	"slipway/internal/base/fault"
)

// room is how much of something is taken, and who waits for some of it.
type room struct {
	taken int
	line  line
}

// enter takes a place, if one of so many is free. Otherwise it joins the line at the end of a path, and returns the
// channel to wait for.
func (r *room) enter(most int, path ...string) (turn chan struct{}) {
	if r.taken < most && r.line.isEmpty() {
		r.taken++
		return nil
	}
	turn = make(chan struct{})
	r.line.join(turn, path...)
	r.admit(most)
	return turn
}

// leave gives a place back.
func (r *room) leave(most int) {
	r.taken--
	r.admit(most)
}

// admit lets in those who wait, as far as there are places.
func (r *room) admit(most int) {
	for r.taken < most && !r.line.isEmpty() {
		r.taken++
		close(r.line.next())
	}
}

// await waits for a turn, which what names. The error is that of late after a time, if there is one, and RequestTimeout
// if the context ends first. A turn may come at the same moment.
func await(ctx context.Context, turn <-chan struct{}, atMost time.Duration, late func() error, what string) error {
	var over <-chan time.Time
	if atMost > 0 {
		timer := time.NewTimer(atMost)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-turn:
		return nil
	case <-over:
		return late()
	case <-ctx.Done():
		return fault.New(fault.RequestTimeout, "The request was given up while it waited for %s.", what).WithCause(ctx.Err())
	}
}

// line is who waits for a turn. The lines below it take turns, whatever waits in each of them. At the end of a path,
// the caller that has waited longest comes first.
type line struct {
	key string
	// below are the lines in which somebody waits, the next one first, and named has them by their keys.
	below []*line
	named map[string]*line
	// waiting are those at the end of a path, longest first: channels that are closed when their turn comes.
	waiting []chan struct{}
}

func (l *line) isEmpty() bool { return len(l.below)+len(l.waiting) == 0 }

// length returns how many wait.
func (l *line) length() int {
	n := len(l.waiting)
	for _, below := range l.below {
		n += below.length()
	}
	return n
}

// join adds one who waits at the end of a path.
func (l *line) join(turn chan struct{}, path ...string) {
	if len(path) == 0 {
		l.waiting = append(l.waiting, turn)
		return
	}
	next := l.named[path[0]]
	if next == nil {
		next = &line{key: path[0]}
		if l.named == nil {
			l.named = map[string]*line{}
		}
		l.named[next.key] = next
		l.below = append(l.below, next)
	}
	next.join(turn, path[1:]...)
}

// next takes out the one whose turn it is. What it has passed comes last then.
func (l *line) next() (turn chan struct{}) {
	if len(l.waiting) > 0 {
		turn = l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		return turn
	}
	first := l.below[0]
	l.below = slices.Delete(l.below, 0, 1)
	turn = first.next()
	if first.isEmpty() {
		delete(l.named, first.key)
	} else {
		l.below = append(l.below, first)
	}
	return turn
}

// quit takes out one who waits no longer, and reports whether he was there.
func (l *line) quit(turn chan struct{}, path ...string) bool {
	if len(path) == 0 {
		at := slices.Index(l.waiting, turn)
		if at >= 0 {
			l.waiting = slices.Delete(l.waiting, at, at+1)
		}
		return at >= 0
	}
	next := l.named[path[0]]
	if next == nil || !next.quit(turn, path[1:]...) {
		return false
	}
	if next.isEmpty() {
		delete(l.named, next.key)
		l.below = slices.DeleteFunc(l.below, func(each *line) bool { return each == next })
	}
	return true
}
