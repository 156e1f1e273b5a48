package testkit

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// mountSmall mounts a small file system until the test ends, and reports false if this process may not.
func mountSmall(t testing.TB, folder string, mebibytes int) bool {
	t.Helper()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%dm", mebibytes))
	if errors.Is(err, syscall.EPERM) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}
