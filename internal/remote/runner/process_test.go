package runner_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"slipway/internal/base/actor"
	"slipway/internal/remote/runner"
	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// built is the program as it is built for these tests.
var built testkit.Program

// process is a runner that runs as a process of its own.
type process struct {
	*exec.Cmd
	log bytes.Buffer
}

// launch starts a runner's process as a configuration says. What still runs when the test ends is killed.
func launch(t *testing.T, w *worldtest.World, c runner.Config) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(built.Path(t), "runner", "--server", c.Server, "--work-dir", c.WorkDir, "--poll", "20ms",
		"--stop-grace", c.StopGrace.String(), "--log-level", "debug", "--destroy="+strconv.FormatBool(c.Destroy), "--exec", c.Command,
		"--stop", string(cmp.Or(c.Stop, keeper.StopGroup)))}
	p.Env = append(c.Environ, "SLIPWAY_TOKEN="+w.Acme.Tokens[actor.Runner])
	p.Stderr = &p.log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGCONT)
		_ = p.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the log of the runner's process:\n%s", &p.log)
		}
	})
	return p
}

// end sends a signal that ends the process, and waits until it has ended.
func (p *process) end(by syscall.Signal) error {
	_ = p.Process.Signal(by)
	return p.Wait()
}

// keeperOf returns the id of the process that keeps the program of a deployment.
func keeperOf(t *testing.T, c runner.Config, deploymentID string) int {
	t.Helper()
	var ids struct{ Keeper int }
	decode(t, filepath.Join(c.WorkDir, ".keepers", deploymentID, "process.json"), &ids)
	return ids.Keeper
}

// groupOf returns the process group of the program of a deployment.
func groupOf(t *testing.T, c runner.Config, deploymentID string) int {
	t.Helper()
	var ids struct{ Group int }
	decode(t, filepath.Join(c.WorkDir, ".keepers", deploymentID, "process.json"), &ids)
	return ids.Group
}

// lives reports whether a process of a group runs.
func lives(group int) bool { return syscall.Kill(-group, 0) == nil }

// touch makes a file in the folder of an instance.
func touch(t *testing.T, c runner.Config, instanceID, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.WorkDir, instanceID, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
