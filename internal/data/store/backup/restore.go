package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/data/store/dburl"
	"slipway/internal/data/store/migrate"
	"slipway/internal/data/store/sqlitefile"
)

// Restored is what Restore did.
type Restored struct {
	Copy
	// Replaced are the folders with what was there before: one, none if nothing was there, and one more
	// where a restore before this one was killed.
	Replaced []string
}

// Restore puts a copy of a backup in the place of a SQLite database. The files that were there are moved
// into a folder beside it, all together. It refuses while a server or another program has the database
// open, and a backup that is not whole, is no database of slipway or is newer than this program.
//
// If it is killed, there is the database as it was, or the new one, or neither: then the database is
// not opened any more until another Restore has ended.
func Restore(ctx context.Context, databaseURL, file string) (Restored, error) {
	t, err := parseSQLite(databaseURL)
	if err != nil {
		return Restored{}, err
	}
	if err := checkBackupFile(file, t.Path); err != nil {
		return Restored{}, err
	}

	// A damaged database may be replaced, but nothing that is not slipway's.
	if err := sqlitefile.Look(ctx, t.Path); err != nil && !errors.Is(err, sqlitefile.ErrCorrupt) {
		return Restored{}, err
	}

	unlock, err := lockExclusively(t)
	if err != nil {
		return Restored{}, err
	}
	defer unlock()

	r := replacement{path: t.Path, from: file}
	for _, step := range r.steps() {
		if err := step(ctx); err != nil {
			return Restored{}, errors.Join(err, r.cleanUp())
		}
	}
	return r.done, errors.Join(sqlitefile.UnmarkServing(t.Path), r.cleanUp())
}

// checkBackupFile returns an error for a backup that is not one file, or is the database itself.
func checkBackupFile(file, database string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("cannot read the backup: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("the backup %s is no regular file", file)
	}

	if there, err := os.Stat(database); err == nil && os.SameFile(info, there) {
		return fmt.Errorf("the backup %s is the database itself", file)
	}

	for _, suffix := range []string{"-wal", "-journal"} {
		left, err := sqlitefile.HasContent(file + suffix)
		if err != nil {
			return fmt.Errorf("cannot read the backup: %w", err)
		}
		if left {
			return fmt.Errorf("the backup %s has %s beside it, which may have its last changes or be another file's: "+
				"if they were copied together, make one file of both with: slipway backup --database sqlite:%s --to NEW; "+
				"else move it away",
				file, file+suffix, file)
		}
	}
	return nil
}

// lockExclusively keeps servers, migrations and the opening of the database by other commands away.
func lockExclusively(t dburl.Target) (unlock func(), err error) {
	var held []func() error
	unlock = func() {
		for _, each := range held {
			_ = each() // the kernel gives the lock up with the file in any case
		}
	}

	for suffix, holder := range map[string]string{
		sqlitefile.ServerLock:    "a server has %s open; stop it before a restore",
		sqlitefile.MigrationLock: "another command opens or migrates %s; try again when it has ended",
	} {
		release, err := sqlitefile.TryLock(t.Path + suffix)
		if err != nil {
			unlock()
			if errors.Is(err, sqlitefile.ErrLocked) {
				err = fmt.Errorf(holder, t)
			}
			return nil, err
		}
		held = append(held, release)
	}

	return unlock, nil
}

// replacement is a restore that is under way. Its folder beside the database says how far it is: there is
// a partial copy of the backup, or a whole and checked one, with which the restore will go on; beside it,
// under their own names, what was moved away for it.
type replacement struct {
	path, from string
	done       Restored
	// inUse is the database that was there, locked.
	inUse *os.File
}

func (r *replacement) folder() string  { return sqlitefile.RestoreFolder(r.path) }
func (r *replacement) base() string    { return filepath.Join(r.folder(), filepath.Base(r.path)) }
func (r *replacement) partial() string { return r.base() + ".partial" }
func (r *replacement) whole() string   { return sqlitefile.RestoreCopy(r.path) }

// steps are a restore, in order. What each leaves is on the disk before the next begins, and a restore
// that ends between two of them is taken up by the next one.
func (r *replacement) steps() []func(context.Context) error {
	steps := []func(context.Context) error{r.begin, r.copy, r.check, r.lock, r.commit}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		steps = append(steps, func(context.Context) error { return r.moveAway(suffix) })
	}
	return append(steps, r.putInPlace, r.nameReplaced)
}

// begin makes the folder. Where one is there in which an earlier restore left all but the new database, all
// that lacked is that folder's name.
func (r *replacement) begin(ctx context.Context) error {
	half, err := sqlitefile.Exists(r.whole())
	if err != nil {
		return err
	}
	if !half {
		if err := r.nameReplaced(ctx); err != nil {
			return err
		}
	}
	if err := os.Mkdir(r.folder(), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot restore beside the database: %w", err)
	}
	return nil
}

func (r *replacement) copy(ctx context.Context) error {
	n, err := copyFile(ctx, r.from, r.partial())
	if err != nil {
		return fmt.Errorf("cannot copy the backup %s: %w", r.from, err)
	}
	r.done.Bytes = n
	return nil
}

func copyFile(ctx context.Context, from, to string) (n int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, sqlitefile.OwnerOnly)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Chmod(sqlitefile.OwnerOnly); err != nil { // whatever the umask is
		return 0, err
	}
	if n, err = io.Copy(out, contextReader{ctx, in}); err != nil {
		return 0, err
	}
	return n, out.Sync()
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader leaves no other way
	in  io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}

// check returns an error for a copy that this program could not serve.
func (r *replacement) check(ctx context.Context) error {
	migration, err := inspect(ctx, r.partial())
	if err != nil {
		return fmt.Errorf("cannot restore the backup %s: %w", r.from, err)
	}
	_, known, err := migrate.KnownOnSQLite()
	if err != nil {
		return err
	}
	if migration > known {
		return fmt.Errorf("cannot restore the backup %s: %w: it has migration %d, this program knows %d",
			r.from, migrate.ErrNewer, migration, known)
	}
	r.done.Migration = migration
	return nil
}

// SQLite locks bytes of a database's file at this place: every connection that has read it holds one of
// them, and needs another to write.
const (
	sqliteLocks     = 0x40000000
	sqliteLockBytes = 512
)

// lock makes sure that no other program has the database open, and lets none begin.
func (r *replacement) lock(context.Context) error {
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot lock the database: %w", err)
	}
	r.inUse = f
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK,
		&unix.Flock_t{Type: unix.F_WRLCK, Start: sqliteLocks, Len: sqliteLockBytes})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("another program has sqlite:%s open; end it before a restore", r.path)
	}
	if err != nil {
		return fmt.Errorf("cannot lock the database sqlite:%s: %w", r.path, err)
	}
	return nil
}

// commit is the point from which the restore goes on, if need be by another one.
func (r *replacement) commit(context.Context) error { return rename(r.partial(), r.whole()) }

// moveAway moves a file of the database that was there into the folder.
func (r *replacement) moveAway(suffix string) error {
	there, err := sqlitefile.Exists(r.path + suffix)
	if err != nil || !there {
		return err
	}
	taken, err := sqlitefile.Exists(r.base() + suffix)
	if err != nil {
		return err
	}
	if taken {
		return fmt.Errorf("%s appeared during an unfinished restore, and %s exists; move one of them away",
			r.path+suffix, r.base()+suffix)
	}
	return rename(r.path+suffix, r.base()+suffix)
}

func (r *replacement) putInPlace(context.Context) error { return rename(r.whole(), r.path) }

// nameReplaced renames the folder with what was moved away; an empty one stays, for cleanUp.
func (r *replacement) nameReplaced(context.Context) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		there, err := sqlitefile.Exists(r.base() + suffix)
		if err != nil {
			return err
		}
		if there {
			name := r.path + ".replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
			if err := rename(r.folder(), name); err != nil {
				return err
			}
			r.done.Replaced = append(r.done.Replaced, name)
			return nil
		}
	}
	return nil
}

// cleanUp gives the lock up and removes what is of no use to another restore: a partial copy, and the
// folder where it is empty.
func (r *replacement) cleanUp() error {
	var err error
	if r.inUse != nil {
		err = r.inUse.Close()
	}
	_ = os.Remove(r.partial())
	_ = os.Remove(r.folder())
	return err
}
