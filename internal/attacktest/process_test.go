package attacktest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// patience is how long anything may take that should come by itself.
const patience = 30 * time.Second

// build builds the program and gives its path.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slipway")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "slipway/cmd/slipway").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// server is a demo that runs as a process of its own.
type server struct {
	url, debug string
	token      string
	deployment string
	process    *os.Process
}

// serve starts a demo on free ports, which answers under the Host x too. It must end well when the test does: whatever was done to it, it is
// still told to stop and stops.
func serve(t *testing.T, program string, flags ...string) *server {
	t.Helper()
	args := append([]string{"demo", "--listen", "127.0.0.1:0", "--admin-listen", "", "--debug-listen", "127.0.0.1:0", "--base-url", "http://x", "--pace", "0", "--log-format", "json"}, flags...)
	c := exec.Command(program, args...) // not the test's context, which ends before the cleanup
	c.Env = []string{"TMPDIR=" + t.TempDir()}
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
	s := &server{process: c.Process}
	log := bufio.NewReader(stderr)
	introduced := make(chan string, 1)
	go func() {
		text, _ := untilReady(stdout)
		introduced <- text
		_, _ = io.Copy(io.Discard, stdout)
	}()
	s.debug = profiles(log)
	s.introduce(<-introduced)
	drained := make(chan struct{})
	panics := 0
	go func() {
		defer close(drained)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if strings.Contains(lines.Text(), "panic") {
				panics++
				t.Logf("the server logged: %.2000s", lines.Text())
			}
		}
	}()
	t.Cleanup(func() {
		kill := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		defer kill.Stop()
		_ = c.Process.Signal(os.Interrupt)
		<-drained
		if err := c.Wait(); err != nil || panics > 0 {
			t.Errorf("the server ended with %v, and panicked %d times", err, panics)
		}
	})
	if s.url == "" || s.debug == "" || s.token == "" {
		t.Fatalf("the demo did not say where it is: %+v", s)
	}
	s.redeploy(t)
	return s
}

// redeploy puts in the place of a deployment another one of the same, which goes on for as long as the
// server does: no runner carries it out.
func (s *server) redeploy(t *testing.T) {
	t.Helper()
	c, close := newCaller(s, 0)
	defer close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/deployments/"+s.deployment+"/redeploy", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var made struct{ Data struct{ ID string } }
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.Data.ID == "" {
		t.Fatalf("redeploy: %d, %v", answer.StatusCode, err)
	}
	s.deployment = made.Data.ID
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

// profiles finds where profiles are in a log, which is read until the API is served too.
func profiles(log *bufio.Reader) (url string) {
	for {
		text, err := log.ReadBytes('\n')
		if err != nil {
			return ""
		}
		var line struct{ Msg, URL string }
		_ = json.Unmarshal(text, &line) // a line that is none has no message
		switch line.Msg {
		case "serving profiles":
			url = line.URL
		case "serving":
			return url
		}
	}
}

var introduction = regexp.MustCompile(`(?s)\n  admin +(\S+).*/deployments/(\w+)".*\nready: (\S+)`)

func (s *server) introduce(text string) {
	if found := introduction.FindStringSubmatch(text); found != nil {
		s.token, s.deployment, s.url = found[1], found[2], found[3]
	}
}
