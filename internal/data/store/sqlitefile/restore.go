package sqlitefile

import (
	"fmt"
	"path/filepath"
)

// RestoreFolder returns the folder in which a restore of a database works.
func RestoreFolder(path string) string { return path + ".restore" }

// RestoreCopy returns the file in that folder from which a restore goes on, whatever else is there: the new database,
// whole and checked.
func RestoreCopy(path string) string {
	return filepath.Join(RestoreFolder(path), filepath.Base(path)) + ".whole"
}

// CheckNotHalfRestored fails if a restore of a database was killed, so that what is there is neither the
// old one nor the new one.
func CheckNotHalfRestored(path string) error {
	half, err := Exists(RestoreCopy(path))
	if half {
		return fmt.Errorf("a restore of sqlite:%s did not end; "+
			"run it again: slipway restore --database sqlite:%s --from FILE",
			path, path)
	}
	return err
}
