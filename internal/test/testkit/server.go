package testkit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// Build builds the program into a folder, with flags of go build, and returns its path.
func Build(ctx context.Context, folder string, flags ...string) (string, error) {
	path := filepath.Join(folder, "slipway")
	args := slices.Concat([]string{"build", "-ldflags=-s -w", "-o", path}, flags, []string{"slipway/cmd/slipway"})
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput() //nolint:gosec // the flags are a test's own
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Program is the program as the tests of a package use it, built when the first of them asks for it.
type Program struct {
	once   sync.Once
	folder string
	path   string
	err    error
}

// Path returns where the program is.
func (p *Program) Path(t testing.TB) string {
	t.Helper()
	p.once.Do(func() {
		p.folder, p.err = os.MkdirTemp("", "slipway-program-") //nolint:usetesting // it outlives the test
		if p.err == nil {
			p.path, p.err = Build(context.Background(), p.folder)
		}
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.path
}

// Run runs the tests of a package, whose TestMain calls it, removes the program, and returns the code to exit with.
func (p *Program) Run(m *testing.M) int {
	code := m.Run()
	if p.folder != "" {
		_ = os.RemoveAll(p.folder)
	}
	return code
}

// Server is the program that serves in a process of its own.
type Server struct {
	Addresses
	command *exec.Cmd
	ended   chan struct{}
}

// Serve starts a command of the program that serves and logs as JSON, and waits until it serves the API.
// What still runs when the test ends is killed.
func Serve(t testing.TB, c *exec.Cmd) *Server {
	t.Helper()
	stderr, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)

	s := &Server{command: c, ended: make(chan struct{})}
	t.Cleanup(func() { s.Kill() })
	s.Addresses = ReadAddresses(log)
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(io.Discard, log)
		_ = c.Wait()
	}()

	if s.API == "" {
		t.Fatalf("the server ended: %s", s.Log)
	}
	return s
}

// Kill ends the process by SIGKILL and waits for its end. It reports whether the process ran until then.
func (s *Server) Kill() bool {
	_ = s.command.Process.Kill() // which fails where the process has ended
	<-s.ended
	status, ok := s.command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// Addresses are the base URLs that a server logs when it begins to serve, empty for what it does not serve.
type Addresses struct {
	API, Health, Profiles string
	// Log is what the server has logged until then.
	Log string
}

// ReadAddresses reads a server's log, which is lines of JSON, up to the line that says that the API is served,
// or to its end.
func ReadAddresses(log *bufio.Reader) (a Addresses) {
	for {
		line, err := log.ReadBytes('\n')
		a.Log += string(line)
		var entry struct{ Msg, URL string }
		_ = json.Unmarshal(line, &entry) // a line that is none has no message
		switch entry.Msg {
		case "serving health":
			a.Health = entry.URL
		case "serving profiles":
			a.Profiles = entry.URL
		case "serving":
			a.API = entry.URL
			return a
		}
		if err != nil {
			return a
		}
	}
}
