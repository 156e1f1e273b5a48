package backup

import (
	"errors"
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
