package feed

import (
	"strings"
	"sync"
)

// waiters are those who wait for something to change and then look for themselves.
type waiters struct {
	mu sync.Mutex
	// of has the waiters for a deployment and for its log by its id, and those for deployments that become PENDING by the
	// id of their organization.
	of map[string]map[*waiter]struct{}
}

type waiter struct{ woken chan struct{} }

// WatchDeployment returns a channel that has an item when the deployment may have changed since the last item was
// received, by whichever server; several changes may be one item, and an item may come if nothing has changed. So
// look at the deployment after the call and after each item, and wait for the next one in between. stop must be called
// when the channel is not needed any more.
func (f *Feed) WatchDeployment(deploymentID string) (woken <-chan struct{}, stop func()) {
	return f.watch(deploymentID)
}

// WatchPending is WatchDeployment for the deployments of an organization that become PENDING: new ones, and those that
// are started after they have waited for approvals.
func (f *Feed) WatchPending(organizationID string) (woken <-chan struct{}, stop func()) {
	return f.watch(organizationID)
}

// WatchLog is WatchDeployment for the lines of a deployment's log, too.
func (f *Feed) WatchLog(deploymentID string) (woken <-chan struct{}, stop func()) {
	return f.watch(deploymentID, logPrefix+deploymentID)
}

// LogChanged wakes those who watch the log of a deployment, on every server. It does not wait for them.
func (f *Feed) LogChanged(deploymentID string) {
	f.waiters.wakeLogs(deploymentID)
	f.notifier.log(deploymentID)
}

// logPrefix is, before the id of a deployment, what those wait for who watch its log.
const logPrefix = "log of "

func (f *Feed) watch(ids ...string) (<-chan struct{}, func()) {
	w := &waiter{make(chan struct{}, 1)}
	for _, id := range ids {
		f.waiters.add(id, w)
	}
	f.enter()
	return w.woken, sync.OnceFunc(func() {
		for _, id := range ids {
			f.waiters.remove(id, w)
		}
		f.leave()
	})
}

func (ws *waiters) add(id string, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.of == nil {
		ws.of = map[string]map[*waiter]struct{}{}
	}
	if ws.of[id] == nil {
		ws.of[id] = map[*waiter]struct{}{}
	}
	ws.of[id][w] = struct{}{}
}

func (ws *waiters) remove(id string, w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.of[id], w)
	if len(ws.of[id]) == 0 {
		delete(ws.of, id)
	}
}

// wake wakes the waiters for a deployment, and where it is PENDING those for such ones of its organization.
func (ws *waiters) wake(organizationID, deploymentID string, isPending bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	wakeAll(ws.of[deploymentID])
	if isPending {
		wakeAll(ws.of[organizationID])
	}
}

// wakeLogs wakes those who watch the logs of deployments.
func (ws *waiters) wakeLogs(deploymentIDs ...string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, deploymentID := range deploymentIDs {
		wakeAll(ws.of[logPrefix+deploymentID])
	}
}

// logs returns the ids of the deployments whose logs somebody watches.
func (ws *waiters) logs() (deploymentIDs []string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for id := range ws.of {
		if deploymentID, isLog := strings.CutPrefix(id, logPrefix); isLog {
			deploymentIDs = append(deploymentIDs, deploymentID)
		}
	}
	return deploymentIDs
}

// wakeEverybody wakes all: something may have changed that nobody has noticed.
func (ws *waiters) wakeEverybody() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, each := range ws.of {
		wakeAll(each)
	}
}

func wakeAll(list map[*waiter]struct{}) {
	for w := range list {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}
