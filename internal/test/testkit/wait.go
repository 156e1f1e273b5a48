package testkit

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a test waits for what should happen by itself: a guard against hanging, not a bound.
const Patience = 2 * time.Minute

// Eventually waits until happened reports true, and returns whether it has. If it has not the test has
// failed. Any goroutine may call it.
func Eventually(t testing.TB, what string, happened func() bool) bool {
	t.Helper()
	late := time.After(Patience)
	for !happened() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-late:
			t.Errorf("waited in vain until %s", what)
			return false
		}
	}
	return true
}

// Lifeline returns the path of a pipe that a program is to open for writing. The channel closes when every
// process that has it open, children of the program among them, has ended.
func Lifeline(t testing.TB) (path string, ended <-chan struct{}) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lifeline")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		_, _ = io.Copy(io.Discard, f)
	}()
	return path, done
}

// MustEnd waits until the channel of a Lifeline is closed.
func MustEnd(t testing.TB, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(Patience):
		t.Fatal("a process still runs")
	}
}
