package worldtest

import (
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"slipway/internal/jsonlog"
)

// tokenForm is what every token of Slipway looks like.
var tokenForm = regexp.MustCompile(`slp_[a-z]+_[0-9A-Za-z]{49}`)

// watchedLog returns a log as the program writes it, of which no line may have a token: the test fails otherwise. So every
// test of the API looks for tokens in what it has logged. Lines go to standard error where SLIPWAY_TEST_LOG is set.
func watchedLog(t testing.TB) *slog.Logger {
	t.Helper()
	w := &watcher{to: io.Discard}
	if os.Getenv("SLIPWAY_TEST_LOG") != "" {
		w.to = os.Stderr
	}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.leak != "" {
			t.Errorf("the log has a token: %s", w.leak)
		}
	})
	return slog.New(jsonlog.New(w, slog.LevelDebug))
}

// watcher looks for tokens in lines, and keeps the first that has one.
type watcher struct {
	to   io.Writer
	mu   sync.Mutex
	leak string
}

// Write implements io.Writer.
func (w *watcher) Write(line []byte) (int, error) {
	if tokenForm.Match(line) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.leak = string(line)
	}
	return w.to.Write(line)
}

// checkAnswer fails the test where an answer has a token that its caller did not ask to be made.
func checkAnswer(t testing.TB, path, body string, answer []byte) {
	t.Helper()
	if found := tokenForm.Find(answer); found != nil && !strings.Contains(body, "createToken") {
		t.Errorf("the answer to %s has a token: %s", path, answer)
	}
}
