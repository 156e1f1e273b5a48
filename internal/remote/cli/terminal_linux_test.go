package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
)

// pty is a terminal, of which a command has one end and the test, as the person before it, the other.
type pty struct {
	command *os.File
	person  *os.File

	mu   sync.Mutex
	seen bytes.Buffer
	done chan struct{}
}

func openTerminal(t *testing.T, columns uint16) *pty {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	command, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	p := &pty{command: command, person: person, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(p, person)
	}()
	return p
}

func (p *pty) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.Write(b)
}

// shown returns what the terminal has shown so far.
func (p *pty) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.seen.String(), "\r\n", "\n")
}

// types types a text once the terminal shows another.
func (p *pty) types(t *testing.T, after, text string) {
	t.Helper()
	if testkit.Eventually(t, "the terminal shows "+after, func() bool { return strings.Contains(p.shown(), after) }) {
		_, _ = io.WriteString(p.person, text)
	}
}

// all closes the command's end, and returns all that the terminal has shown.
func (p *pty) all() string {
	_ = p.command.Close()
	<-p.done
	return p.shown()
}

func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin]).with(map[string]string{"TERM": "xterm"})
	h.must(t, "projects", "create", "a-slug-that-is-rather-long-for-a-narrow-terminal", "--name", "注文の待ち行列を見る人のための倉庫 🚚")
	for _, columns := range []uint16{40, 80, 200} {
		var all strings.Builder
		n := names{}
		for _, command := range []string{
			"projects list", "environments list", "instances list", "modules list", "modules versions shop", "deployments list", "whoami",
			"deployments show shop/production/web@last", "compare shop/production/web@previous shop/production/web@live", "projects list --fields id,slug", "instances list -o tsv",
		} {
			p := openTerminal(t, columns)
			code := h.execute(t.Context(), p.command, io.Discard, strings.Fields(command)...)
			fmt.Fprintf(&all, "$ slipway %s\n%sexit %d\n\n", command, strings.ReplaceAll(p.all(), "\x1b", "ESC"), code)
		}
		golden(t, fmt.Sprintf("terminal-%d", columns), n.of(all.String()))
	}
}

func TestColoursAreOnATerminalThatWantsThem(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	for name, test := range map[string]struct {
		variables map[string]string
		args      []string
		color     bool
	}{
		"a terminal": {map[string]string{"TERM": "xterm"}, nil, true},
		"NO_COLOR":   {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, nil, false},
		"dumb":       {map[string]string{"TERM": "dumb"}, nil, false},
		"never":      {map[string]string{"TERM": "xterm"}, []string{"--color", "never"}, false},
		"json":       {map[string]string{"TERM": "xterm"}, []string{"-o", "json"}, false},
	} {
		p := openTerminal(t, 100)
		h := s.home(t, s.Acme.Tokens[actor.Viewer]).with(test.variables)
		h.execute(t.Context(), p.command, io.Discard, append([]string{"deployments", "list"}, test.args...)...)
		if got := p.all(); strings.Contains(got, "\x1b[") != test.color || !strings.Contains(got, "SUCCEEDED") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestChangeAsksOnATerminal(t *testing.T) {
	t.Parallel()
	s := newStock(t)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	for i, test := range []struct {
		answer string
		code   int
	}{{"y\n", 0}, {"yes\n", 0}, {"Y\n", 0}, {"n\n", 1}, {"\n", 1}, {"nothing\n", 1}, {"\x04", 1}} {
		p := openTerminal(t, 80)
		asking := h.with(nil)
		asking.stdin = p.command
		go p.types(t, "[y/N] ", test.answer)
		slug := fmt.Sprint("p", i)
		code := asking.execute(t.Context(), io.Discard, p.command, "projects", "create", slug)
		shown := p.all()
		if code != test.code || !strings.Contains(shown, s.URL+", acme, as admin (ADMIN)\nCreate project "+slug+"? [y/N] ") {
			t.Errorf("%q: exit code %d, %q", test.answer, code, shown)
		}
		if o := h.run(t, "projects", "show", slug); (o.code == 0) != (test.code == 0) {
			t.Errorf("%q: %+v", test.answer, o)
		}
	}
	// If one of both is no terminal, or with --yes, nothing is asked.
	p := openTerminal(t, 80)
	asking := h.with(nil)
	asking.stdin = p.command
	asking.must(t, "projects", "create", "q1")
	if code := h.execute(t.Context(), io.Discard, p.command, "projects", "create", "q2"); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if code := asking.execute(t.Context(), io.Discard, p.command, "projects", "create", "q3", "--yes"); code != 0 || strings.Contains(p.all(), "?") {
		t.Errorf("exit code %d, %s", code, p.shown())
	}
}

func TestLoginAsksWithoutShowingTheToken(t *testing.T) {
	t.Parallel()
	s, p := recording(t), openTerminal(t, 80)
	h := newHome(t)
	h.stdin = p.command
	go p.types(t, "Token: ", "slp_secret\n")
	if code := h.execute(t.Context(), io.Discard, p.command, "login", "--server", s.url, "--context", "prod"); code != 0 {
		t.Errorf("exit code %d", code)
	}
	interrupted := openTerminal(t, 80)
	again := newHome(t)
	again.stdin = interrupted.command
	go interrupted.types(t, "Token: ", "slp_sec\x03")
	if code := again.execute(t.Context(), io.Discard, interrupted.command, "login", "--server", s.url); code != 130 {
		t.Errorf("exit code %d after Ctrl-C", code)
	}
	if shown := p.all(); strings.Contains(shown, "secret") || !strings.Contains(shown, "Token: \n") {
		t.Errorf("shown %q", shown)
	}
	if !strings.Contains(h.content(t), "slp_secret") || !strings.Contains(s.heard(), "Bearer slp_secret") {
		t.Errorf("kept %s", h.content(t))
	}
}

func TestQuestionThatIsInterruptedChangesNothing(t *testing.T) {
	t.Parallel()
	s, p := newStock(t), openTerminal(t, 80)
	h := s.home(t, s.Acme.Tokens[actor.Admin])
	asking := h.with(nil)
	asking.stdin = p.command
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		testkit.Eventually(t, "it is asked", func() bool { return strings.Contains(p.shown(), "[y/N] ") })
		interrupt()
	}()
	if code := asking.execute(ctx, io.Discard, p.command, "projects", "delete", "shop"); code != 130 {
		t.Errorf("exit code %d", code)
	}
	h.must(t, "projects", "show", "shop")
}
