package testkit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SmallDisk returns a folder on a file system of its own with room for a few MiB, and a function that fills it up by
// the file "full". If this process may not mount one, ok is false.
func SmallDisk(t testing.TB, mebibytes int) (folder string, fill func(), ok bool) {
	t.Helper()
	folder = t.TempDir()
	if !mountSmall(t, folder, mebibytes) {
		return "", nil, false
	}
	return folder, func() { fillUp(t, filepath.Join(folder, "full")) }, true
}

// fillUp writes a file until there is no room left.
func fillUp(t testing.TB, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = file.Close() }()
	for block := make([]byte, 4<<10); err == nil; {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}
