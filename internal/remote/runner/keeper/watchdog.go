package keeper

import (
	"encoding/json"
	"sync"
	"time"
)

// pollInterval is how often a keeper and a guard look at the clocks.
const pollInterval = 50 * time.Millisecond

// watchdog decides when a program must be terminated and when it must be killed. It has what the runner has told, so
// that the keeper can tell it to the next.
type watchdog struct {
	grace time.Duration
	clock Clock
	// terminate is closed when the program must end, and kill when it must be dead.
	terminate, kill chan struct{}

	mu     sync.Mutex
	known  message
	reason Reason
	// killAt is when the program must be dead; nil while it is not stopped.
	killAt *Instant
	killed bool
}

func newWatchdog(l Lease, grace time.Duration, clock Clock) *watchdog {
	w := &watchdog{grace: grace, clock: clock, terminate: make(chan struct{}), kill: make(chan struct{})}
	w.known.Lease = l
	return w
}

// take takes what the runner says, and reports whether it has renewed the lease.
func (w *watchdog) take(m message) (renewed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.known.Lease
	w.known.add(m.orders)
	if m.Note != nil {
		w.known.Note = m.Note
	}
	return w.known.Lease != before
}

// all returns all that the keeper knows.
func (w *watchdog) all() message {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.known
	m.Note = append(json.RawMessage(nil), m.Note...)
	return m
}

func (w *watchdog) setEnd(end *End) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known.End = end
}

// update stops the program if orders or, at a time, the lease demand it.
func (w *watchdog) update(now Instant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lease := w.known.Lease
	left := lease.End.Sub(now) - lease.margin()
	if order := w.known.Stop; order != nil {
		w.stop(order.Why, order.Kill)
	}
	if left <= lease.grace(w.grace) {
		w.stop(LeaseExpiring, now.Add(left))
	}
	if !w.killed && (left <= 0 || w.killAt != nil && w.killAt.Sub(now) <= 0) {
		w.killed = true
		close(w.kill)
	}
}

// stop terminates the program, which must be dead at killAt. Of several stops the first reason counts and the
// earliest time.
func (w *watchdog) stop(why Reason, killAt Instant) {
	if w.killAt == nil {
		w.reason = why
		close(w.terminate)
	}
	if w.killAt == nil || killAt.Sub(*w.killAt) < 0 {
		w.killAt = &killAt
	}
}

// checkStart returns errStopped if the program must not be started any more.
func (w *watchdog) checkStart() error {
	w.update(w.clock())
	select {
	case <-w.terminate:
		return errStopped
	default:
		return nil
	}
}

// programExited stops the processes that the program has left running; they have the grace to end.
func (w *watchdog) programExited() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop("", w.clock().Add(w.known.Lease.grace(w.grace)))
}

// stopReason returns why the program was stopped, "" if it was not.
func (w *watchdog) stopReason() Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}
