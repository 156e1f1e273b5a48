package testkit

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// Log is a log that a test reads while others write it. The zero value is ready to use.
type Log struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // closed by the next Write; nil where nobody waits for that
}

// Write implements io.Writer.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written != nil {
		close(l.written)
		l.written = nil
	}
	return l.text.Write(b)
}

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Line waits for the first line of which is reports true, and returns it. The line of a request is written after
// its answer.
func (l *Log) Line(t testing.TB, is func(line string) bool) string {
	t.Helper()
	late := time.After(Patience)
	for {
		text, written := l.read()
		for line := range strings.Lines(text) {
			if is(line) {
				return line
			}
		}
		select {
		case <-written:
		case <-late:
			t.Fatalf("no such line in %s", text)
		}
	}
}

// read returns what was written, and a channel that closes when there is more.
func (l *Log) read() (string, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written == nil {
		l.written = make(chan struct{})
	}
	return l.text.String(), l.written
}
