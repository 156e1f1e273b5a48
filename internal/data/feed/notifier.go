package feed

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"slipway/internal/data/store"
)

const (
	// notifyEvery is how often this server notifies the others at most.
	notifyEvery = 20 * time.Millisecond
	// notifyTimeout bounds one notification.
	notifyTimeout = 2 * time.Second
)

// notifier notifies the other servers of changes, several at once if they come fast.
type notifier struct {
	notify func(context.Context, store.Notification) error
	logger *slog.Logger

	mu sync.Mutex
	// pending is what there is to notify of, sending reports whether something is being done about it.
	pending store.Notification
	sending bool
}

// deployments notifies the others of a change of a deployment soon: at once, or notifyEvery after the last time.
func (n *notifier) deployments() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending.Deployments = true
	n.send()
}

// log notifies the others of more lines in the log of a deployment, as deployments does. Of too many they find some
// within a second.
func (n *notifier) log(deploymentID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.pending.Logs, deploymentID) && len(n.pending.Logs) < store.MaxNotifiedLogs {
		n.pending.Logs = append(n.pending.Logs, deploymentID)
	}
	n.send()
}

func (n *notifier) send() {
	if !n.sending {
		n.sending = true
		go n.run()
	}
}

func (n *notifier) run() {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	n.mu.Lock()
	next := n.pending
	n.pending = store.Notification{}
	n.mu.Unlock()
	if err := n.notify(ctx, next); err != nil {
		n.logger.Debug("the other servers were not notified of a change, which they find within a second", "error", err)
	}
	time.AfterFunc(notifyEvery, n.next)
}

// next notifies once more where something has changed meanwhile.
func (n *notifier) next() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sending = n.pending.Deployments || len(n.pending.Logs) > 0; n.sending {
		go n.run()
	}
}
