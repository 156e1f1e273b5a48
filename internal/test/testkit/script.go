package testkit

import (
	"os"
	"syscall"
	"testing"
)

// Script writes a shell script that everybody can run, without its first line. As long as a file is open for writing
// nobody can run it, and a child begun meanwhile would have it open too: no child begins while it is written.
func Script(tb testing.TB, path, text string) {
	tb.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil { //nolint:gosec // it is to be run
		tb.Fatal(err)
	}
}
