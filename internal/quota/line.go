package quota

import "slices"

// line is who waits for a turn. The lines below it take turns, whatever waits in each of them; at the end of a path it is
// the one that has waited longest.
type line struct {
	key string
	// below are the lines in which somebody waits, the next one first, and named has them by their keys.
	below []*line
	named map[string]*line
	// waiting are those at the end of a path, longest first: channels that are closed when their turn comes.
	waiting []chan struct{}
}

func newLine(key string) *line { return &line{key: key, named: map[string]*line{}} }

func (l *line) isEmpty() bool { return len(l.below)+len(l.waiting) == 0 }

// join adds one who waits at the end of a path.
func (l *line) join(turn chan struct{}, path ...string) {
	if len(path) == 0 {
		l.waiting = append(l.waiting, turn)
		return
	}
	next := l.named[path[0]]
	if next == nil {
		next = newLine(path[0])
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
