package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
			err = narrow(path + suffix)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot open the database sqlite:%s for its owner alone: %w", path, err)
	}
	return nil
}

// narrow takes the rights of others to a file away. It goes by the name and not by a descriptor: closing
// one of a database's file would give up the locks that SQLite has on it in this process.
func narrow(path string) error {
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
