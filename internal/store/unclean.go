package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// corrupt is the error of a database that is damaged, with what to do about it.
func (t target) corrupt(err error) error {
	return fmt.Errorf("the database %s is %w; put a backup in its place with: slipway restore --database %s --from FILE (docs/backup.md)", t, err, t)
}

// beginServing notes in the server's lock, which the caller has, that a server has a SQLite file open.
// endServing takes the note away; where it stays, the server has not ended in order.
func beginServing(path string) error {
	f, err := os.OpenFile(path+serverLock, os.O_WRONLY|os.O_TRUNC, ownerOnly)
	if err != nil {
		return err
	}
	_, err = f.WriteString("serving\n")
	return errors.Join(err, f.Sync(), f.Close())
}

func endServing(path string) error { return os.Truncate(path+serverLock, 0) }

// checkAfterUncleanEnd makes sure, before anything writes to a SQLite file, that it is whole: where the
// last server did not end in order, or something was left in the -wal. It calls checking before it begins.
func checkAfterUncleanEnd(ctx context.Context, t target, checking func(why string)) error {
	why, err := uncleanEnd(t.path)
	if err != nil || why == "" {
		return err
	}
	there, err := hasContent(t.path)
	if err != nil {
		return err
	}
	if !there {
		return refuseLostLog(t.path)
	}
	if checking != nil {
		checking(why)
	}
	db, err := openToRead(t.path)
	if err != nil {
		return err
	}
	err = quickCheck(ctx, db)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForeign) {
		err = t.corrupt(err)
	}
	return errors.Join(err, db.Close())
}

// refuseLostLog keeps the -wal of a database that is not there, which SQLite would delete with the new one
// that it makes.
func refuseLostLog(path string) error {
	left, err := hasContent(path + "-wal")
	if left {
		return fmt.Errorf("there is %s-wal without its database %s: put that back beside it, or move it away", path, path)
	}
	return err
}

// uncleanEnd says why a SQLite file may be damaged, or nothing.
func uncleanEnd(path string) (why string, err error) {
	serving, err := hasContent(path + serverLock)
	if err != nil {
		return "", err
	}
	if serving {
		return "the last server did not end in order", nil
	}
	left, err := hasContent(path + "-wal")
	if left {
		why = path + "-wal was left behind"
	}
	return why, err
}
