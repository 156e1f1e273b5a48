package main_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	main "slipway/cmd/slipway"
	"slipway/internal/data/store/migrate"
	"slipway/internal/test/testkit"
)

// variables is an environment.
type variables map[string]string

func (v variables) lookup(name string) (string, bool) {
	text, ok := v[name]
	return text, ok
}

// outcome is what a command left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// patience is how long a command may run that should end by itself.
const patience = 30 * time.Second

// run runs a command to its end.
func run(t *testing.T, env variables, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	code := main.Run(ctx, args, &stdout, &stderr, env.lookup)
	return outcome{code, stdout.String(), stderr.String()}
}

// must runs a command that is to succeed, and gives what it printed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	o := run(t, nil, args...)
	if o.code != 0 {
		t.Fatalf("slipway %s: exit code %d, %s", strings.Join(args, " "), o.code, o.stderr)
	}
	return strings.TrimSpace(o.stdout)
}

// mustFail runs a command that is to fail with the code and one line on standard error that has the text.
func mustFail(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	o := run(t, nil, args...)
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	last := lines[len(lines)-1]
	if o.code != code || !strings.HasPrefix(last, "slipway: ") || !strings.Contains(last, says) {
		t.Errorf("slipway %s: exit code %d, want %d; %q, want %q in its last line", strings.Join(args, " "), o.code, code, o.stderr, says)
	}
	if o.stdout != "" {
		t.Errorf("slipway %s: printed %q", strings.Join(args, " "), o.stdout)
	}
}

// file returns the URL of a SQLite database that is not there yet.
func file(t *testing.T) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "slipway.db")
}

// migrated returns the URL of an empty SQLite database.
func migrated(t *testing.T) string {
	t.Helper()
	url := file(t)
	if _, err := migrate.Up(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return url
}

// serving is a serve command that runs.
type serving struct {
	testkit.Addresses
	stop context.CancelFunc
	done chan int
}

// serve starts the API on a free port, with health, and waits until it serves.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	s := &serving{stop: stop, done: make(chan int, 1)}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}, args...)
	go func() {
		code := main.Run(ctx, args, io.Discard, in, variables{}.lookup)
		_ = in.Close()
		s.done <- code
		close(s.done)
	}()
	t.Cleanup(func() { stop(); <-s.done })
	log := bufio.NewReader(out)
	s.Addresses = testkit.ReadAddresses(log)
	go func() { _, _ = io.Copy(io.Discard, log) }()
	if s.API == "" {
		t.Fatalf("serve ended: %s", s.Log)
	}
	return s
}

// status asks for a page of a server and gives the status of the answer.
func status(t *testing.T, url, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}
