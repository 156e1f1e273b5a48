package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Kept is a program under a keeper, as the runner that attends to it sees it.
type Kept struct {
	folder
	// attended is locked as long as this process attends to the program.
	attended *os.File

	mu     sync.Mutex
	orders orders
}

// TakeUp attends to the programs in a root that no runner attends to. about returns what to decode that
// into which Start was told. What cannot be read is left alone, and the error says so.
func TakeUp(root string) (taken []*Kept, err error) {
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	done, err := enterRoot(root)
	if err != nil {
		return nil, err
	}
	defer done()
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		k := &Kept{folder: folder(filepath.Join(root, e.Name()))}
		attended, failed := lock(k.path(runnerLock), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB)
		if attended == nil {
			err = errors.Join(err, failed)
			continue
		}
		k.attended = attended
		there, failed := k.load(ordersFile, &k.orders)
		switch {
		case failed != nil:
			k.Leave()
			err = errors.Join(err, failed)
		case !there: // it was not begun, or is half removed
			err = errors.Join(err, k.remove())
		default:
			taken = append(taken, k)
		}
	}
	return taken, err
}

// About decodes what Start was told.
func (k *Kept) About(into any) error {
	there, err := k.load(aboutFile, into)
	if err == nil && !there {
		err = fmt.Errorf("%s is not there", k.path(aboutFile))
	}
	return err
}

// Lease returns the lease that the program runs under.
func (k *Kept) Lease() Lease {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.orders.Lease
}

// Renew lets the program run under a lease that was renewed.
func (k *Kept) Renew(l Lease) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.End.Boot <= k.orders.Lease.End.Boot {
		return nil // an answer that came late
	}
	k.orders.Lease = l
	return k.save(ordersFile, k.orders)
}

// Stop has the program stopped, and killed at a time. An earlier Stop is followed where it kills sooner.
func (k *Kept) Stop(why Reason, kill Instant) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if earlier := k.orders.Stop; earlier != nil {
		if kill.Boot >= earlier.Kill.Boot {
			return nil
		}
		why = earlier.Why
	}
	k.orders.Stop = &stopOrder{why, kill}
	return k.save(ordersFile, k.orders)
}

// ended reports whether the program has ended or its keeper has.
func (k *Kept) ended() (bool, error) {
	var end End
	there, err := k.load(endFile, &end)
	if there || err != nil {
		return there, err
	}
	alive, err := locked(k.path(keeperLock))
	return !alive, err
}

// Wait waits for the end of the program. Where the keeper has ended without a word, it ends the program.
func (k *Kept) Wait(ctx context.Context) (End, error) {
	idle := shortest
	for {
		ended, err := k.ended()
		if err != nil {
			return End{}, err
		}
		if ended {
			return k.end()
		}
		if idle, err = wait(ctx, idle); err != nil {
			return End{}, err
		}
	}
}

// end returns how the program ended whose keeper has ended.
func (k *Kept) end() (end End, err error) {
	there, err := k.load(endFile, &end)
	if there || err != nil {
		return end, err
	}
	if err := k.killLeft(); err != nil {
		return End{}, err
	}
	said, _ := os.ReadFile(k.path(panicFile))
	return End{ExitCode: -1, Stopped: Unkept, Stderr: clean(said[:min(len(said), tailBytes)])}, nil
}

// killLeft kills what a keeper that has ended unexpectedly has left of its program. As long as the folder of
// the program is locked, something of it lives, and its group is no other's.
func (k *Kept) killLeft() error {
	var p processes
	there, err := k.load(processFile, &p)
	if err != nil || !there || p.Group == 0 {
		return err
	}
	alive, err := locked(p.Dir)
	if alive {
		killGroup(p.Group)
	}
	return err
}

// Kill kills the program and its keeper, which has not stopped it in time.
func (k *Kept) Kill() error {
	var p processes
	alive, err := locked(k.path(keeperLock))
	if err == nil && alive {
		alive, err = k.load(processFile, &p)
	}
	if err != nil || !alive {
		return err
	}
	_ = syscall.Kill(p.Keeper, syscall.SIGKILL)
	if p.Group != 0 {
		killGroup(p.Group)
	}
	return nil
}

// noteFile has what a runner wants to know again if another takes the program up.
const noteFile = "runner.json"

// Note keeps what a runner that takes the program up is to know.
func (k *Kept) Note(v any) error { return k.save(noteFile, v) }

// Noted decodes what was kept by Note, and reports whether anything was.
func (k *Kept) Noted(into any) (bool, error) { return k.load(noteFile, into) }

// Leave leaves the program to its keeper and to another runner.
func (k *Kept) Leave() { _ = k.attended.Close() }

// Remove removes what was kept of a program that has ended.
func (k *Kept) Remove() error {
	done, err := enterRoot(filepath.Dir(string(k.folder)))
	if err != nil {
		return err
	}
	defer done()
	return k.remove()
}

// remove removes the orders first: without them the folder is none to take up.
func (k *Kept) remove() error {
	defer k.Leave()
	if err := os.Remove(k.path(ordersFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(string(k.folder))
}
