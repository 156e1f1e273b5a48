package prooftest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// build builds the program with flags of go build and returns its path.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slipway")
	args := slices.Concat([]string{"build", "-o", path}, flags, []string{"slipway/cmd/slipway"})
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// process is a server that runs as a process of its own.
type process struct {
	url     string
	command *exec.Cmd
	ended   chan struct{}
}

// serve starts a server on a free port and waits until it serves. What still runs when the test ends is
// killed.
func serve(t *testing.T, program, database string) *process {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--admin-listen", "",
		"--log-format", "json", "--max-requests-per-caller", "0", "--cost-capacity", "0") // one token asks for everything
	c.Env = []string{}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{command: c, ended: make(chan struct{})}
	t.Cleanup(func() { p.kill(t) })
	lines, logged := bufio.NewScanner(stderr), []string{}
	for p.url == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			p.url = line.URL
		}
		logged = append(logged, lines.Text())
	}
	go func() {
		_, _ = io.Copy(io.Discard, stderr)
		_ = c.Wait()
		close(p.ended)
	}()
	if p.url == "" {
		t.Fatalf("serve ended: %s", strings.Join(logged, "\n"))
	}
	return p
}

// kill ends the process by SIGKILL and waits for its end.
func (p *process) kill(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
		return
	default:
	}
	if err := p.command.Process.Kill(); err != nil {
		t.Logf("kill: %v", err) // it has ended by itself
	}
	<-p.ended
}
