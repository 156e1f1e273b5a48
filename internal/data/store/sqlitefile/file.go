// Package sqlitefile is about the files of a SQLite database: their names and modes, their locks, and whether they are
// whole.
package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OwnerOnly is the mode of the files of a SQLite database, which have every organization's data.
const OwnerOnly = 0o600

// Prepare makes sure that a path may be opened as a database, and makes its files private.
func Prepare(ctx context.Context, path string) error {
	if err := Look(ctx, path); err != nil {
		return err
	}
	if err := CheckNotHalfRestored(path); err != nil {
		return err
	}
	if err := checkLogs(path); err != nil {
		return err
	}
	return MakePrivate(path)
}

// checkLogs returns an error for a -wal or a -journal whose database is not there: SQLite would delete it with the new
// one that it makes. The logs are looked at first, because a program that makes a database makes its logs later.
func checkLogs(path string) error {
	for suffix, isThere := range map[string]func(string) (bool, error){"-wal": HasContent, "-journal": Exists} {
		left, err := HasContent(path + suffix)
		if err != nil {
			return err
		}
		there, err := isThere(path)
		if err != nil {
			return err
		}
		if left && !there {
			return fmt.Errorf("there is %s without its database %s: put that back beside it, or move it away", path+suffix, path)
		}
	}
	return nil
}

// MakePrivate lets nobody but their owner read or write the files of a SQLite database. It makes the
// migration's lock, from which SQLite takes the mode of a database that it makes (see DSN), and
// narrows the mode of what is there, such as a restored copy.
func MakePrivate(path string) error {
	lock, err := openLock(path + MigrationLock)
	if err == nil {
		err = lock.Close()
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ServerLock} {
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
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&^OwnerOnly == 0 {
		return err
	}
	err = os.Chmod(path, info.Mode().Perm()&OwnerOnly)
	if errors.Is(err, fs.ErrNotExist) { // SQLite has removed it since
		return nil
	}
	return err
}

// Exists reports whether a name is taken, if only by a symbolic link that leads nowhere.
func Exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// HasContent reports whether there is a file that is not empty.
func HasContent(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}
