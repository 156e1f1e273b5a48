package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Adopt returns handles of the programs in a root that are the runner's and of which no runner has one: theirs has
// ended or has detached from them. mine tells, by its Info, whether a program is the runner's; others are not touched.
// A program that cannot be adopted is left as it is, and the error has the reason.
func Adopt(root string, mine func(*Handle) bool) ([]*Handle, error) {
	found, err := find(root, mine)
	failed := make([]error, len(found))

	var all sync.WaitGroup
	for i, h := range found {
		all.Go(func() {
			if failed[i] = h.meet(); failed[i] != nil {
				failed[i] = fmt.Errorf("adopt %s: %w", h.folder, failed[i])
				h.Detach()
			}
		})
	}
	all.Wait()

	var adopted []*Handle
	for i, h := range found {
		if failed[i] == nil {
			adopted = append(adopted, h)
		}
	}
	return adopted, errors.Join(append(failed, err)...)
}

// find returns handles of the programs that Adopt may take. Nobody is waited for, because others cannot start programs
// meanwhile.
func find(root string, mine func(*Handle) bool) (found []*Handle, err error) {
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
		h := newHandle(filepath.Join(root, e.Name()))
		_, missing := os.Stat(h.path(ordersFile))
		interrupted := errors.Is(missing, fs.ErrNotExist) // as it was made or removed
		if !interrupted && !mine(h) {
			continue
		}

		file, failed := h.lockFile(runnerLockFile)
		switch h.runnerLock = file; {
		case file == nil:
			err = errors.Join(err, failed)
		case interrupted:
			err = errors.Join(err, h.remove())
		default:
			found = append(found, h)
		}
	}
	return found, err
}

// meet learns how a program is doing: from its keeper, or from what that has left.
func (h *Handle) meet() error {
	err := h.greet()
	if err == nil {
		return nil
	}

	alive, failed := isLocked(h.path(keeperLockFile))
	switch {
	case failed != nil:
		return failed
	case alive:
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	close(h.ended)
	return h.readLeft()
}

// greet connects with the keeper, and learns from it how the program is doing.
func (h *Handle) greet() error {
	c, err := h.dial()
	if err != nil {
		return err
	}

	var told message
	in := messages(c)
	err = errors.Join(c.SetReadDeadline(time.Now().Add(answerTime)), in.Decode(&told), c.SetReadDeadline(time.Time{}))
	if err != nil {
		_ = c.Close()
		return err
	}

	h.conn, h.known = c, told
	if told.End != nil {
		close(h.ended)
	} else {
		go h.follow(in)
	}
	return nil
}

// readLeft reads what a keeper that has ended has left. The file of the note is removed if a newer one had no room.
func (h *Handle) readLeft() error {
	var started startOrders
	if _, err := h.load(ordersFile, &started); err != nil {
		return err
	}
	h.known.Lease.ID = started.Lease
	if _, err := h.load(endFile, &h.known); err != nil {
		return err
	}
	_, err := h.load(noteFile, &h.known.Note)
	return err
}
