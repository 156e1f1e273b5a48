package attacktest_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/internal/base/actor"
)

// logged is what a server has written to its log.
type logged struct {
	mu sync.Mutex
	volume
	panics int
	// last is the last line.
	last []byte
	// awaited are closed when a line has their text.
	awaited map[string]chan struct{}
}

// volume is an amount of log.
type volume struct{ lines, bytes int }

func (v volume) minus(o volume) volume { return volume{v.lines - o.lines, v.bytes - o.bytes} }

// follow reads a log to its end, and shows the test what panicked.
func (l *logged) follow(t *testing.T, log *bufio.Reader) {
	for {
		line, err := log.ReadBytes('\n')
		if err != nil && len(line) == 0 {
			return
		}
		if l.add(line) {
			t.Logf("the server logged: %.2000s", line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("the server's log: %v", err)
			return
		}
	}
}

// add counts a line, and reports whether it tells of a panic.
func (l *logged) add(line []byte) (panicked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines++
	l.bytes += len(line)
	l.last = append(l.last[:0], line...)
	for text, seen := range l.awaited {
		if bytes.Contains(line, []byte(text)) {
			close(seen)
			delete(l.awaited, text)
		}
	}
	if bytes.Contains(line, []byte("panic")) {
		l.panics++
		return true
	}
	return false
}

func (l *logged) await(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.awaited == nil {
		l.awaited = map[string]chan struct{}{}
	}
	seen := make(chan struct{})
	l.awaited[text] = seen
	return seen
}

func (l *logged) sum() volume {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.volume
}

// catchUp asks a harmless question under a request id and waits for its line: what ended before it is
// logged by then. It gives all that is logged, that line among it.
func (s *server) catchUp(ctx context.Context, id string) (volume, error) {
	c, close := newCaller(s, 0)
	defer close()
	seen := s.log.await(id)
	if got, err := c.as(actor.Developer).send(ctx, request{header: map[string]string{"X-Request-Id": id}, body: strings.NewReader(harmless)}); err != nil || got != "200" {
		return volume{}, fmt.Errorf("a harmless question: %s, %w", got, err)
	}
	select {
	case <-seen:
		return s.log.sum(), nil
	case <-time.After(patience):
		return volume{}, fmt.Errorf("no log line has %s", id)
	}
}
