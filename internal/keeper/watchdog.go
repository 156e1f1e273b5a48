package keeper

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// orders are what a runner asks of a keeper.
type orders struct {
	Lease Lease `json:"lease"`
	// Stop asks for the end of the program; nil while nobody has asked.
	Stop *stopOrder `json:"stop,omitempty"`
}

// stopOrder stops a program: at once by SIGTERM, and at a time by SIGKILL.
type stopOrder struct {
	Why  Reason  `json:"why"`
	Kill Instant `json:"kill"`
}

// pollInterval is how often a keeper reads its orders and the clocks.
const pollInterval = 50 * time.Millisecond

// watchdog decides when a program must be terminated and when it must be killed.
type watchdog struct {
	folder folder
	grace  time.Duration
	clock  Clock
	// terminate is closed when the program must end, and kill when it must be dead.
	terminate, kill chan struct{}

	mu     sync.Mutex
	orders orders
	// read is the file that the orders were read from.
	read   fs.FileInfo
	reason Reason
	// killAt is when the program must be dead; nil while it is not stopped.
	killAt *Instant
}

func newWatchdog(f folder, grace time.Duration, clock Clock) (*watchdog, error) {
	w := &watchdog{folder: f, grace: grace, clock: clock, terminate: make(chan struct{}), kill: make(chan struct{})}
	err := w.readOrders()
	return w, err
}

// run reads orders and clocks until the program must be dead.
func (w *watchdog) run() {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for range ticker.C {
		// While orders cannot be read, the lease is not renewed, and so the program ends in time.
		_ = w.readOrders()
		if w.update() {
			close(w.kill)
			return
		}
	}
}

// readOrders reads the orders if their file has changed.
func (w *watchdog) readOrders() error {
	info, err := os.Stat(w.folder.path(ordersFile))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.read != nil && os.SameFile(w.read, info) && w.read.ModTime().Equal(info.ModTime()) {
		return nil
	}
	var latest orders
	exists, err := w.folder.load(ordersFile, &latest)
	if err == nil && !exists {
		err = errors.New("there are no orders")
	}
	if err == nil {
		w.orders, w.read = latest, info
	}
	return err
}

// update stops the program if orders or the lease demand it, and reports whether it must be dead.
func (w *watchdog) update() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, lease := w.clock(), w.orders.Lease
	left := lease.End.Sub(now) - lease.margin()
	if order := w.orders.Stop; order != nil {
		w.stop(order.Why, order.Kill)
	}
	if left <= lease.grace(w.grace) {
		w.stop(LeaseExpiring, now.Add(left))
	}
	return left <= 0 || w.killAt != nil && w.killAt.Sub(now) <= 0
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
	w.update()
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
	w.stop("", w.clock().Add(w.orders.Lease.grace(w.grace)))
}

// stopReason returns why the program was stopped, "" if it was not.
func (w *watchdog) stopReason() Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}
