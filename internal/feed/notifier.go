package feed

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// notifyEvery is how often this server notifies the others at most.
	notifyEvery = 20 * time.Millisecond
	// notifyTimeout bounds one notification.
	notifyTimeout = 2 * time.Second
)

// notifier notifies the other servers of changes, several at once where they come fast.
type notifier struct {
	notify func(context.Context) error
	log    *slog.Logger

	mu sync.Mutex
	// pending reports whether there is something to notify of, sending whether that is being done.
	pending, sending bool
}

// send notifies the others soon: at once, or notifyEvery after the last time.
func (n *notifier) send() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = true
	if !n.sending {
		n.sending = true
		go n.run()
	}
}

func (n *notifier) run() {
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	n.mu.Lock()
	n.pending = false
	n.mu.Unlock()
	if err := n.notify(ctx); err != nil {
		n.log.Debug("the other servers were not notified of a change, which they find within a second", "error", err)
	}
	time.AfterFunc(notifyEvery, n.next)
}

// next notifies once more where something has changed meanwhile.
func (n *notifier) next() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sending = n.pending; n.sending {
		go n.run()
	}
}
