package feed

import (
	"context"
	"log/slog"
	"time"

	"slipway/internal/data/store"
	"slipway/internal/pure/feedcursor"
)

// Merged is a change that merge has left, and its cursor.
type Merged struct {
	Change store.Change
	Cursor feedcursor.Cursor
}

// Merge is merge.
func Merge(page []store.Change, seen func(string) int32) []Merged {
	var list []Merged
	for _, e := range merge(page, seen) {
		list = append(list, Merged{e.Change, e.cursor})
	}
	return list
}

// SetMaxQueue sets how many items may wait for a subscription to take them.
func (f *Feed) SetMaxQueue(n int) { f.maxQueue = n }

// SetMaxLeft sets of how many deployments a subscription knows that it has sent Left.
func (f *Feed) SetMaxLeft(n int) { f.maxLeft = n }

// SetLinger sets how long the reader goes on when nobody follows anything any more.
func (f *Feed) SetLinger(d time.Duration) { f.linger = d }

// IsReading reports whether the reader runs.
func (f *Feed) IsReading() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reader != nil
}

// HoldReader has the reader stop at the next changes that it reads, before it tells of them, until release is called.
func (f *Feed) HoldReader() (release func()) {
	f.waiters.mu.Lock()
	return f.waiters.mu.Unlock
}

// NewNotifier returns how a notifier is told of a change, and of lines in a log.
func NewNotifier(notify func(context.Context, store.Notification) error) (deployments func(), log func(string)) {
	n := &notifier{notify: notify, logger: slog.New(slog.DiscardHandler)}
	return n.deployments, n.log
}

// MaxReads is maxReads.
const MaxReads = maxReads
