package attacktest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
)

// patience is how long anything may take that should come by itself: a guard against hanging, not a bound.
const patience = time.Minute

// profiling are the flags that make a server serve its profiles.
var profiling = []string{"--admin-listen", "", "--debug-listen", "127.0.0.1:0"}

// built is the program as it is built for these tests.
var built testkit.Program

// server is a demo that runs as a process of its own.
type server struct {
	program, database string
	url, profiles     string
	tokens            map[actor.Role]string
	// deployment is one that goes on for as long as the server does.
	deployment string
	stock      stock
	// fresh are tokens that the server has not seen yet.
	fresh   chan string
	process *os.Process
	log     logged
}

// serve starts a demo on free ports. It must end well when the test does: whatever was done to it, it is
// still told to stop and stops.
func serve(t *testing.T, program, database string, flags ...string) *server {
	t.Helper()
	args := append([]string{"demo", "--database", database, "--listen", "127.0.0.1:0", "--pace", "0", "--log-format", "json"}, profiling...)
	c := exec.Command(program, append(args, flags...)...) // not the test's context, which ends before the cleanup
	// Two cores everywhere, so that what may be used in a time is the same everywhere.
	c.Env = []string{"TMPDIR=" + t.TempDir(), fmt.Sprintf("GOMAXPROCS=%d", cores)}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{program: program, database: database, process: c.Process}
	log := bufio.NewReader(stderr)
	introduced := make(chan string, 1)
	go func() {
		text, _ := untilReady(stdout)
		introduced <- text
		_, _ = io.Copy(io.Discard, stdout)
	}()
	addresses := testkit.ReadAddresses(log)
	s.profiles = addresses.Profiles
	s.introduce(<-introduced)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		s.log.follow(t, log)
	}()
	t.Cleanup(func() {
		kill := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		defer kill.Stop()
		_ = c.Process.Signal(os.Interrupt)
		<-drained
		if err := c.Wait(); err != nil || s.log.panics > 0 {
			t.Errorf("the server ended with %v, and panicked %d times; the last that it logged: %s", err, s.log.panics, s.log.last)
		}
	})
	if s.url == "" || s.profiles == "" || len(s.tokens) != len(actor.Roles) {
		t.Fatalf("the demo did not say where it is: %q, %q, %d tokens\n%s", s.url, s.profiles, len(s.tokens), addresses.Log)
	}
	return s
}

// untilReady reads what a demo says of itself.
func untilReady(out io.Reader) (string, error) {
	var text strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "ready: ") {
			break
		}
	}
	return text.String(), lines.Err()
}

var (
	token = regexp.MustCompile(`(?m)^  (\w+) +(slp_\S+)$`)
	where = regexp.MustCompile(`(?m)^ready: (\S+)`)
)

func (s *server) introduce(text string) {
	s.tokens = map[actor.Role]string{}
	for _, found := range token.FindAllStringSubmatch(text, -1) {
		s.tokens[actor.Role(found[1])] = found[2]
	}
	if found := where.FindStringSubmatch(text); found != nil {
		s.url = found[1]
	}
}

// mint makes tokens that the server has not seen yet.
func (s *server) mint(t *testing.T, n int) {
	t.Helper()
	s.fresh = make(chan string, n)
	for i := range n {
		secret, err := s.command(t.Context(), "token", "create", "--role", string(actor.Viewer), "--name", fmt.Sprint("fresh-", i))
		if err != nil {
			t.Fatal(err)
		}
		s.fresh <- secret
	}
}

// idOf finds the id of a token by the end of it.
func (s *server) idOf(ctx context.Context, secret string) (string, error) {
	tokens, err := s.command(ctx, "token", "list")
	for line := range strings.Lines(tokens) {
		if strings.Contains(line, "…"+secret[len(secret)-4:]) {
			return strings.Fields(line)[0], err
		}
	}
	return "", errors.Join(err, errors.New("the token is not listed"))
}

// command runs a command of the program on the server's database, for the demo's organization.
func (s *server) command(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, s.program, append(args, "--org", "northwind", "--database", s.database)...)
	c.Env = []string{}
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%q: %w: %s", args, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
