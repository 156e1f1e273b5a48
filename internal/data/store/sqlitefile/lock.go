package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// What the names of the lock files end in.
const (
	// MigrationLock is that of a migration, and of whoever opens the database.
	MigrationLock = ".lock"
	// ServerLock is that of the one server.
	ServerLock = ".serve.lock"
)

// ErrLocked is returned for a lock that another process has.
var ErrLocked = errors.New("locked by another process")

// TryLock takes the lock of a file, or fails with ErrLocked. The kernel gives it up with the process.
func TryLock(path string) (unlock func() error, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		closed := f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, errors.Join(fmt.Errorf("cannot lock %s: %w", path, err), closed)
	}
	return func() error {
		// Closing alone leaves the lock to a process that is being started just now, until it runs its program.
		return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
	}, nil
}

// openLock opens a lock file, which it makes if there is none, and sets its mode whatever the umask is. It follows no
// link.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, OwnerOnly)
	if err == nil {
		if err = f.Chmod(OwnerOnly); err == nil {
			return f, nil
		}
		err = errors.Join(err, f.Close())
	}
	return nil, fmt.Errorf("cannot open the lock file: %w", err)
}

// WaitLock takes the lock of a file, waiting for whoever has it as long as the context lives.
func WaitLock(ctx context.Context, path string) (unlock func() error, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		unlock, err := TryLock(path)
		if !errors.Is(err, ErrLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the lock %s: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}
