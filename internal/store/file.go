package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ownerOnly is the mode of the files of a SQLite database, which have every organization's data.
const ownerOnly = 0o600

// What the names of the lock files end in: of a migration, and of the one server.
const (
	migrationLock = ".lock"
	serverLock    = ".serve.lock"
)

// makePrivate lets nobody but their owner read or write the files of a SQLite database. It makes the
// migration's lock, from which SQLite takes the mode of a database that it makes (see sqliteDSN), and
// narrows the mode of what is there, such as a restored copy.
func makePrivate(path string) error {
	lock, err := openLock(path + migrationLock)
	if err == nil {
		err = lock.Close()
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", serverLock} {
		if err == nil {
			err = restrictMode(path + suffix)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot open the database sqlite:%s for its owner alone: %w", path, err)
	}
	return nil
}

// restrictMode takes the rights of others to a file away. It goes by the name and not by a descriptor: closing
// one of a database's file would give up the locks that SQLite has on it in this process.
func restrictMode(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&^ownerOnly == 0 {
		return err
	}
	err = os.Chmod(path, info.Mode().Perm()&ownerOnly)
	if errors.Is(err, fs.ErrNotExist) { // SQLite has removed it since
		return nil
	}
	return err
}

var errLocked = errors.New("locked by another process")

// tryLock takes the lock of a file, or fails with errLocked. The kernel gives it up with the process.
func tryLock(path string) (unlock func() error, err error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		closed := f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, errors.Join(fmt.Errorf("cannot lock %s: %w", path, err), closed)
	}
	return func() error {
		// Closing alone leaves the lock to a process that is being started just now, until it runs its program.
		return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
	}, nil
}

// openLock opens a lock file, which it makes where there is none, and sets its mode whatever the umask is.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, ownerOnly)
	if err == nil {
		if err = f.Chmod(ownerOnly); err == nil {
			return f, nil
		}
		err = errors.Join(err, f.Close())
	}
	return nil, fmt.Errorf("cannot open the lock file: %w", err)
}

// waitLock takes the lock of a file, waiting for whoever has it as long as the context lives.
func waitLock(ctx context.Context, path string) (unlock func() error, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		unlock, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the lock %s: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}

// syncFile writes what the system still keeps of a file, or of the names in a folder, to the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// rename gives a file another name, for good: it is on the disk when rename returns. Both names are on
// one file system.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if filepath.Dir(from) != filepath.Dir(to) {
		if err := syncFile(filepath.Dir(from)); err != nil {
			return err
		}
	}
	return syncFile(filepath.Dir(to))
}

// exists reports whether a name is taken, if only by a symbolic link that leads nowhere.
func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// hasContent reports whether there is a file that is not empty.
func hasContent(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}
