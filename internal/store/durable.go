package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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

// isThere reports whether a name is taken, if only by a symbolic link that leads nowhere.
func isThere(path string) (bool, error) {
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

// followLinks returns the file that a symbolic link stands for, and any other path as it is. A file has
// its locks under one name, however it is named.
func followLinks(path string) (string, error) {
	const most = 40
	for range most {
		target, err := os.Readlink(path)
		if err != nil { // no link, or nothing there
			return path, nil //nolint:nilerr // whoever opens it says what is wrong
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("more than %d symbolic links, the last of which is %s", most, path)
}
