package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// Handle is a runner's access to a program under a keeper. At most one process has a Handle of a program.
type Handle struct {
	folder
	// runnerLock is the locked file that keeps others from adopting the program.
	runnerLock *os.File

	mu     sync.Mutex
	orders orders
	// removed is whether the folder is gone, so that no order is to be written into it any more.
	removed bool
}

// Start starts a keeper for a program. Its folder is made in root, and has a name that is new there. env is the
// program's environment; info is stored as JSON for a runner that adopts the program.
func Start(root, name string, lease Lease, p Program, env []string, info any) (*Handle, error) {
	h, err := create(root, name, lease, info)
	if err != nil {
		return nil, err
	}
	if err := h.spawn(p, env); err != nil {
		return nil, errors.Join(err, h.Remove())
	}
	return h, nil
}

// create makes the folder of a program, with its first orders.
func create(root, name string, lease Lease, info any) (*Handle, error) {
	unlock, err := lockRoot(root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	h := &Handle{folder: folder(filepath.Join(root, name)), orders: orders{Lease: lease}}
	if err := os.Mkdir(string(h.folder), folderMode); err != nil {
		return nil, err
	}
	if h.runnerLock, err = lock(h.path(runnerLockFile), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	return h, errors.Join(h.save(ordersFile, h.orders), h.save(infoFile, info))
}

// lockRoot makes the root if it does not exist, and locks it, so that no other runner changes its folders.
func lockRoot(root string) (unlock func(), err error) {
	if err := os.MkdirAll(root, folderMode); err != nil {
		return nil, err
	}
	file, err := lock(root, os.O_RDONLY, syscall.LOCK_EX)
	if err != nil {
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

// spawn starts the process of the keeper, which inherits the lock on its folder.
func (h *Handle) spawn(p Program, env []string) error {
	path, err := executable()
	if err != nil {
		return err
	}
	input, err := json.Marshal(p)
	if err != nil {
		return err
	}
	alive, err := lock(h.path(keeperLockFile), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	stderr, err := os.OpenFile(h.path(panicFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	defer func() { _ = stderr.Close() }()
	cmd := exec.Command(path, append(slices.Clone(command), string(h.folder))...) //nolint:gosec // this program
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = "/", env, bytes.NewReader(input), stderr
	cmd.ExtraFiles = []*os.File{alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a keeper: %w", err)
	}
	go func() { _ = cmd.Wait() }() // how it ended is in its folder
	return nil
}

// Adopt returns handles of the programs in a root of which no runner has one: their runner has ended or has detached
// from them. A program that cannot be adopted is left as it is, and the error has the reason.
func Adopt(root string) (adopted []*Handle, err error) {
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	unlock, err := lockRoot(root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		h := &Handle{folder: folder(filepath.Join(root, e.Name()))}
		file, failed := lock(h.path(runnerLockFile), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB)
		if file == nil {
			err = errors.Join(err, failed)
			continue
		}
		h.runnerLock = file
		exists, failed := h.load(ordersFile, &h.orders)
		switch {
		case failed != nil:
			h.Detach()
			err = errors.Join(err, failed)
		case !exists: // create or remove was interrupted
			err = errors.Join(err, h.remove())
		default:
			adopted = append(adopted, h)
		}
	}
	return adopted, err
}

// Info decodes the info that Start was called with.
func (h *Handle) Info(into any) error {
	exists, err := h.load(infoFile, into)
	if err == nil && !exists {
		err = fmt.Errorf("%s does not exist", h.path(infoFile))
	}
	return err
}

// Lease returns the lease that the program runs under.
func (h *Handle) Lease() Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.orders.Lease
}

// Renew passes a renewed lease on to the keeper. One that ends earlier than the present one is ignored.
func (h *Handle) Renew(l Lease) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.removed || l.End.Boot <= h.orders.Lease.End.Boot {
		return nil // the answers to two requests came in the wrong order
	}
	h.orders.Lease = l
	return h.save(ordersFile, h.orders)
}

// Stop makes the keeper send SIGTERM to the program, and SIGKILL at a time. Of several calls the first reason counts
// and the earliest time.
func (h *Handle) Stop(why Reason, kill Instant) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.removed {
		return nil
	}
	if earlier := h.orders.Stop; earlier != nil {
		if kill.Boot >= earlier.Kill.Boot {
			return nil
		}
		why = earlier.Why
	}
	h.orders.Stop = &stopOrder{why, kill}
	return h.save(ordersFile, h.orders)
}

// hasEnded reports whether the program or its keeper has ended.
func (h *Handle) hasEnded() (bool, error) {
	var end End
	exists, err := h.load(endFile, &end)
	if exists || err != nil {
		return exists, err
	}
	alive, err := isLocked(h.path(keeperLockFile))
	return !alive, err
}

// Wait waits for the end of the program and returns how it ended. If the keeper was killed, Wait kills what is left of
// the program.
func (h *Handle) Wait(ctx context.Context) (End, error) {
	idle := minPoll
	for {
		ended, err := h.hasEnded()
		if err != nil {
			return End{}, err
		}
		if ended {
			return h.end()
		}
		if idle, err = pollWait(ctx, idle); err != nil {
			return End{}, err
		}
	}
}

// end returns how the program ended, after hasEnded.
func (h *Handle) end() (end End, err error) {
	exists, err := h.load(endFile, &end)
	if exists || err != nil {
		return end, err
	}
	if err := h.killOrphans(); err != nil {
		return End{}, err
	}
	panicked, _ := os.ReadFile(h.path(panicFile))
	return End{ExitCode: -1, Stopped: KeeperKilled, Stderr: validText(panicked[:min(len(panicked), tailBytes)])}, nil
}

// killOrphans kills the processes that a killed keeper has left of its program. As long as the program's folder is
// locked, one of them lives, and the id of their group has not been given to others.
func (h *Handle) killOrphans() error {
	var p processes
	exists, err := h.load(processFile, &p)
	if err != nil || !exists || p.Group == 0 {
		return err
	}
	alive, err := isLocked(p.Dir)
	if alive {
		killGroup(p.Group)
	}
	return err
}

// Kill kills the program and its keeper, for when the keeper has not stopped the program in time.
func (h *Handle) Kill() error {
	var p processes
	alive, err := isLocked(h.path(keeperLockFile))
	if err == nil && alive {
		alive, err = h.load(processFile, &p)
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

// SaveNote stores v as JSON, for a runner that adopts the program.
func (h *Handle) SaveNote(v any) error { return h.save(noteFile, v) }

// LoadNote decodes what SaveNote stored last, and reports whether there is any.
func (h *Handle) LoadNote(into any) (bool, error) { return h.load(noteFile, into) }

// Detach closes the handle, so that another runner can adopt the program.
func (h *Handle) Detach() { _ = h.runnerLock.Close() }

// Remove removes the folder of a program that has ended, and closes the handle.
func (h *Handle) Remove() error {
	unlock, err := lockRoot(filepath.Dir(string(h.folder)))
	if err != nil {
		return err
	}
	defer unlock()
	return h.remove()
}

// remove removes the orders first: without them Adopt does not take the folder for a program's.
func (h *Handle) remove() error {
	defer h.Detach()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.removed = true
	if err := os.Remove(h.path(ordersFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(string(h.folder))
}
