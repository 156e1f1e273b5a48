package retention

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ownerOnly is the mode of the files of an archive.
const ownerOnly = 0o600

// checkFolder returns an error for a folder in which everybody may replace files. In a sticky one only their owners
// may.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", path)
	}
	const othersWrite = 0o002
	if info.Mode().Perm()&othersWrite != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf(
			"everybody may replace files in the folder %s, whose mode is %04o; run: chmod o-w %s", path, info.Mode().Perm(),
			path,
		)
	}
	return nil
}

// openFile opens a file of the archive, which it makes if there is none. It follows no link, and looks at what is there
// before it opens it and again at what it has opened.
func openFile(path string) (*os.File, error) {
	if err := checkFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err == nil {
		err = checkFile(path, info)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}

	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, ownerOnly)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = checkFile(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkFile returns an error for what is not a regular file of this user that others can neither read nor write.
func checkFile(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; move it away", path)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the system does not tell whose %s is", path)
	}
	if owner, user := int(stat.Uid), os.Geteuid(); owner != user {
		return fmt.Errorf(
			"%s belongs to the user %d, and this process runs as the user %d; run: chown %d %s", path, owner, user, user, path,
		)
	}
	if mode := info.Mode().Perm(); mode&^ownerOnly != 0 {
		return fmt.Errorf(
			"%s has the mode %04o, and the audit is its owner's alone; run: chmod %04o %s", path, mode, ownerOnly, path,
		)
	}
	return nil
}
