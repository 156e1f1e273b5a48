package feed

import "slipway/internal/store"

// Merged is a change that merge has left, and its cursor.
type Merged struct {
	Change store.Change
	Cursor Cursor
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
