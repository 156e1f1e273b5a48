package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Handle is a runner's access to a program under a keeper. At most one process has a Handle of a program.
type Handle struct {
	folder
	// runnerLock is the locked file that keeps others from adopting the program.
	runnerLock *os.File
	// ended is closed when the end of the program is known, or its keeper is gone.
	ended chan struct{}

	mu sync.Mutex
	// known is what both know: what the keeper has told and what it was told.
	known message
	// conn is the connection with the keeper; nil while there is none.
	conn net.Conn
	// closed is whether there is to be none any more.
	closed bool
	// killed is why Kill has ended the program, "" if it has not.
	killed Reason
}

func newHandle(path string) *Handle { return &Handle{folder: folder(path), ended: make(chan struct{})} }

// Start starts a keeper for a program. Its folder is made in root, and has a name that is new there. env is the
// program's environment; info is stored as JSON for a runner that adopts the program.
func Start(root, name string, lease Lease, p Program, env []string, info any) (*Handle, error) {
	h := newHandle(filepath.Join(root, name))
	if err := h.create(root, lease.ID, info); err != nil {
		return nil, err
	}
	h.known.Lease = lease
	if err := h.spawn(task{p, lease}, env); err != nil {
		return nil, errors.Join(err, h.Remove())
	}
	go h.follow(messages(h.conn))
	return h, nil
}

// create makes the folder of a program, which is complete when it has orders.
func (h *Handle) create(root, leaseID string, info any) error {
	unlock, err := lockRoot(root)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Mkdir(string(h.folder), folderMode); err != nil {
		return err
	}
	if h.runnerLock, err = h.lockFile(runnerLockFile); err == nil {
		err = errors.Join(h.save(infoFile, info), h.save(ordersFile, startOrders{leaseID}))
	}
	if err != nil {
		err = errors.Join(err, h.remove())
	}
	return err
}

// startOrders are what the file of the orders has.
type startOrders struct {
	// Lease is the id of the lease, which stays the same as the lease is renewed.
	Lease string `json:"lease"`
}

// lockFile locks a file of the folder, and returns nil if another process has it locked.
func (f folder) lockFile(name string) (*os.File, error) {
	return lock(f.path(name), os.O_CREATE|os.O_RDWR, syscall.LOCK_EX|syscall.LOCK_NB)
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

// spawn starts the process of the keeper, which inherits the lock on its folder and the socket.
func (h *Handle) spawn(t task, env []string) error {
	path, err := executable()
	if err != nil {
		return err
	}
	input, err := json.Marshal(t)
	if err != nil {
		return err
	}

	alive, err := h.lockFile(keeperLockFile)
	if err != nil {
		return err
	}
	defer func() { _ = alive.Close() }()
	socket, err := h.listen()
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()

	if h.conn, err = h.dial(); err != nil { // the keeper finds the runner waiting
		return err
	}

	stderr, err := os.OpenFile(h.path(panicFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	defer func() { _ = stderr.Close() }()

	cmd := exec.Command(path, append(slices.Clone(command), string(h.folder))...) //nolint:gosec // this program
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = "/", env, bytes.NewReader(input), stderr
	cmd.ExtraFiles = []*os.File{lockFD - 3: alive, socketFD - 3: socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a keeper: %w", err)
	}
	go func() { _ = cmd.Wait() }() // how it ended is in its folder
	return nil
}

// Info decodes the info that Start was called with.
func (h *Handle) Info(into any) error {
	exists, err := h.load(infoFile, into)
	if err == nil && !exists {
		err = fmt.Errorf("%s does not exist", h.path(infoFile))
	}
	return err
}

// Lease returns the lease that the program runs under. If the keeper ended without a word it has an id alone.
func (h *Handle) Lease() Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known.Lease
}

// Renew passes a renewed lease on to the keeper. One that ends earlier than the present one is ignored.
func (h *Handle) Renew(l Lease) error { return h.order(orders{Lease: l}) }

// Stop makes the keeper send SIGTERM to the program, and SIGKILL at a time. Of several calls the first reason counts
// and the earliest time.
func (h *Handle) Stop(why Reason, kill Instant) error {
	return h.order(orders{Stop: &stopOrder{why, kill}})
}

// order gives the keeper orders, if they change anything and the program has not ended.
func (h *Handle) order(o orders) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.known.orders
	h.known.add(o)
	if h.known.orders == before || h.hasEnded() {
		return nil
	}
	err := h.tell(message{orders: h.known.orders})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return nil // else follow finds that the keeper is gone, or connects again and tells what is known
}

// hasEnded reports whether the program or its keeper has ended.
func (h *Handle) hasEnded() bool {
	select {
	case <-h.ended:
		return true
	default:
		return false
	}
}

// Wait waits until nothing is left of the program, and returns how it ended. If the keeper was killed, Wait kills what
// is left of the program. The end is Unknown then, unless Kill has ended the program.
func (h *Handle) Wait(ctx context.Context) (End, error) {
	if !h.hasEnded() {
		select {
		case <-h.ended:
		case <-ctx.Done():
			return End{}, context.Cause(ctx)
		}
	}

	for {
		end, err := h.end()
		if !errors.Is(err, errAlive) {
			return end, err
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return End{}, context.Cause(ctx)
		}
	}
}

// end returns how the program ended, after hasEnded. The error is errAlive as long as something is left of it.
func (h *Handle) end() (End, error) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.known.End == nil {
		var left message
		if _, err := h.load(endFile, &left); err != nil {
			return End{}, err
		}
		h.known.End = left.End
	}
	if h.known.End != nil {
		return *h.known.End, nil
	}

	if err := h.killOrphans(); err != nil {
		return End{}, err
	}
	if h.killed != "" {
		return End{ExitCode: -1, Signal: syscall.SIGKILL, Stopped: h.killed}, nil
	}

	panicked, _ := os.ReadFile(h.path(panicFile))
	return End{ExitCode: -1, Stopped: Unknown, Stderr: validText(panicked[:min(len(panicked), tailBytes)])}, nil
}

// SaveNote stores v as JSON, for a runner that adopts the program: the keeper has it, and what outlives the keeper.
func (h *Handle) SaveNote(v any) error {
	note, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a note: %w", err)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	h.known.Note = note

	untold := h.tell(message{Note: note})
	unsaved := h.save(noteFile, v)
	if unsaved == nil {
		return nil
	}

	// An old note would be taken for the newest. To remove it needs no room.
	if err := os.Remove(h.path(noteFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(unsaved, err)
	}

	if untold == nil {
		return nil
	}
	return errors.Join(unsaved, untold)
}

// LoadNote decodes what SaveNote stored last, and reports whether there is any.
func (h *Handle) LoadNote(into any) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known.Note == nil {
		return false, nil
	}
	return true, json.Unmarshal(h.known.Note, into)
}

// Detach closes the handle, so that another runner can adopt the program.
func (h *Handle) Detach() {
	h.disconnect()
	_ = h.runnerLock.Close()
}

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
	if err := os.Remove(h.path(ordersFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(string(h.folder))
}
