package prooftest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// TestWakingRunners rolls back on one server, and finds out how late the program starts of a runner that waits for work
// at another.
func TestWakingRunners(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Postgres(t))
	p := w.Fixture(t, w.Acme, "web")
	source := p.Succeeded(t)
	begun, program := time.Now(), built.Path(t)
	asked, waiting := serve(t, program, w.DatabaseURL), serve(t, program, w.DatabaseURL)
	started := filepath.Join(t.TempDir(), "started")
	startProgram(t, program, "runner", "--server", waiting.API, "--token", w.Acme.Tokens[actor.Runner], "--poll", "1h",
		"--work-dir", t.TempDir(), "--exec", `date +%s%N >>`+started)
	c := newClient(t, w.Acme.Tokens[actor.Developer], 1)
	var late []time.Duration
	for i := range testkit.Often(3, 100) {
		sent := time.Now()
		a, err := c.send(t.Context(), asked.API, request{source: source.ID, id: "waking-" + strconv.Itoa(i)})
		if err != nil || !a.made() {
			t.Fatalf("%+v, %v", a, err)
		}
		testkit.Eventually(t, "it succeeds", func() bool {
			d, err := w.Store.Client.Deployment.Get(w.Acme.As(actor.Viewer), a.id)
			return err == nil && d.Status == "SUCCEEDED"
		})
		times := startTimes(t, started)
		if len(times) != i+1 {
			t.Fatalf("%d programs have started after %d rollbacks", len(times), i+1)
		}
		late = append(late, times[i].Sub(sent))
	}
	proved.note(t, begun, "%d rollbacks: the program of a runner at another server starts after %s, p99 %s, at most %s",
		len(late), median(late), percentile(late, 99), slices.Max(late))
}

// startProgram starts a process that is killed when the test ends.
func startProgram(t *testing.T, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	must(t, c.Start())
	t.Cleanup(func() { _ = c.Wait() }) // its context has ended
}

// startTimes returns the times in a file, one a line in nanoseconds.
func startTimes(t *testing.T, file string) (times []time.Time) {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	for line := range strings.Lines(string(text)) {
		n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		must(t, err)
		times = append(times, time.Unix(0, n))
	}
	return times
}
