// Package feed wakes the subscriptions to a deployment when it has changed. It passes no data on: a follower that is
// woken reads the deployment again.
package feed

import "sync"

// Feed wakes the followers within one process. Its zero value is ready to use.
type Feed struct {
	mu        sync.Mutex
	followers map[string]map[*follower]struct{}
}

type follower struct{ woken chan struct{} }

// Follow returns a channel that has an item when the deployment may have changed since the last item was received.
// Several changes between two receives are one item. stop must be called when the channel is not needed any more.
func (f *Feed) Follow(deploymentID string) (woken <-chan struct{}, stop func()) {
	mine := &follower{make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.followers == nil {
		f.followers = map[string]map[*follower]struct{}{}
	}
	if f.followers[deploymentID] == nil {
		f.followers[deploymentID] = map[*follower]struct{}{}
	}
	f.followers[deploymentID][mine] = struct{}{}
	return mine.woken, func() { f.leave(deploymentID, mine) }
}

func (f *Feed) leave(deploymentID string, gone *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.followers[deploymentID], gone)
	if len(f.followers[deploymentID]) == 0 {
		delete(f.followers, deploymentID)
	}
}

// Changed wakes the followers of a deployment. It does not wait for them.
func (f *Feed) Changed(deploymentID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for each := range f.followers[deploymentID] {
		select {
		case each.woken <- struct{}{}:
		default:
		}
	}
}
