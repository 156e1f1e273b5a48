package keeper

import (
	"encoding/json"
	"syscall"
	"time"
)

// A runner is the deputy of a keeper that does not do its work: it kills the program when its time is over.

// stopPatience is how long after the time of a stop the runner leaves the kill to the keeper, which sees how the
// program ends.
const stopPatience = 2 * time.Second

// Overdue reports whether the program should be dead by now: its lease is about to end, or the time of its stop is
// over.
func (h *Handle) Overdue(now Instant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	stop := h.known.Stop
	return h.known.Lease.Overdue(now) || stop != nil && stop.Kill.Add(stopPatience).Sub(now) <= 0
}

// Kill kills the program and its keeper, for when the program is overdue. If the program has ended, Kill leaves it to
// the keeper to tell how.
func (h *Handle) Kill() error {
	p, alive, err := h.kept()
	if err != nil || !alive {
		return err
	}
	running, err := p.live()
	if err != nil || p.Group != 0 && !running {
		return err
	}
	if running {
		h.setKilled()
	}
	_ = syscall.Kill(p.Keeper, syscall.SIGKILL)
	return p.kill()
}

// setKilled notes why the program is killed.
func (h *Handle) setKilled() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.killed = LeaseExpiring; h.known.Stop != nil {
		h.killed = h.known.Stop.Why
	}
}

// KillSilent kills a keeper that does not tell the end of its program: nothing is left of the program, and the keeper,
// which is frozen, does not answer.
func (h *Handle) KillSilent() error {
	p, alive, err := h.kept()
	if err != nil || !alive || p.Group == 0 {
		return err
	}
	if running, err := p.live(); err != nil || running || h.answers() {
		return err
	}
	if p, alive, err = h.kept(); err != nil || !alive {
		return err
	}
	return syscall.Kill(p.Keeper, syscall.SIGKILL)
}

// kept returns the ids of the processes, and reports whether the keeper lives.
func (h *Handle) kept() (p processes, alive bool, err error) {
	if alive, err = isLocked(h.path(keeperLockFile)); err == nil && alive {
		alive, err = h.load(processFile, &p)
	}
	return p, alive, err
}

// answers reports whether the keeper greets a runner that connects. follow connects again after that.
func (h *Handle) answers() bool {
	c, err := h.dial()
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	var greeting json.RawMessage
	return c.SetReadDeadline(time.Now().Add(keeperPatience)) == nil && messages(c).Decode(&greeting) == nil
}

// killOrphans kills the processes that a killed keeper has left of its program.
func (h *Handle) killOrphans() error {
	var p processes
	if _, err := h.load(processFile, &p); err != nil {
		return err
	}
	return p.kill()
}
