package keeper

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"
)

// orders are what a runner wants of a keeper.
type orders struct {
	Lease Lease `json:"lease"`
	// Stop tells the program to end.
	Stop *stopOrder `json:"stop,omitempty"`
}

// stopOrder stops a program: by SIGTERM, and at a time by SIGKILL.
type stopOrder struct {
	Why  Reason  `json:"why"`
	Kill Instant `json:"kill"`
}

// look is how often a keeper looks at its orders and at the clocks.
const look = 50 * time.Millisecond

// guard decides when a program is to end, and when it is to be dead.
type guard struct {
	folder folder
	grace  time.Duration
	clock  Clock
	// stop is closed when the program is to end, and kill when it is to be dead.
	stop, kill chan struct{}

	mu     sync.Mutex
	orders orders
	read   fs.FileInfo
	reason Reason
	// dead is when the program is to be dead; nil while it is not stopped.
	dead *Instant
}

func newGuard(f folder, grace time.Duration, clock Clock) (*guard, error) {
	g := &guard{folder: f, grace: grace, clock: clock, stop: make(chan struct{}), kill: make(chan struct{})}
	err := g.readOrders()
	return g, err
}

// run looks at orders and clocks until the program is to be dead.
func (g *guard) run() {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for range ticker.C {
		// What cannot be read leaves the lease as it was, and so ends it.
		_ = g.readOrders()
		if g.judge() {
			close(g.kill)
			return
		}
	}
}

// readOrders reads the orders where they are new.
func (g *guard) readOrders() error {
	info, err := os.Stat(g.folder.path(ordersFile))
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.read != nil && os.SameFile(g.read, info) && g.read.ModTime().Equal(info.ModTime()) {
		return nil
	}
	var new orders
	there, err := g.folder.load(ordersFile, &new)
	if err == nil && !there {
		err = errors.New("there are no orders")
	}
	if err == nil {
		g.orders, g.read = new, info
	}
	return err
}

// judge stops the program where that is due, and reports whether it is to be dead.
func (g *guard) judge() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, lease := g.clock(), g.orders.Lease
	left := lease.End.Sub(now) - lease.margin()
	if order := g.orders.Stop; order != nil {
		g.stopBy(order.Why, order.Kill)
	}
	if grace := lease.grace(g.grace); left <= grace {
		g.stopBy(Expiring, now.Add(left))
	}
	return left <= 0 || g.dead != nil && g.dead.Sub(now) <= 0
}

// check returns an error where the program must not be started any more.
func (g *guard) check() error {
	g.judge()
	select {
	case <-g.stop:
		return errStopped
	default:
		return nil
	}
}

// stopBy stops the program, which is to be dead then; the first reason and the earliest time count.
func (g *guard) stopBy(why Reason, dead Instant) {
	if g.dead == nil {
		g.reason = why
		close(g.stop)
	}
	if g.dead == nil || dead.Sub(*g.dead) < 0 {
		g.dead = &dead
	}
}

// ended stops what the program has left running.
func (g *guard) ended() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopBy("", g.clock().Add(g.orders.Lease.grace(g.grace)))
}

// why returns the reason for which the program was stopped.
func (g *guard) why() Reason {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason
}
