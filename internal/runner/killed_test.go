package runner_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/worldtest"
)

func TestRunnerThatIsKilledLeavesTheInstanceFreeAndItsFolderToTheProgram(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.LeaseTime = 6 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go w.Deploy.Keep(ctx, slog.New(slog.DiscardHandler))
	p := w.Place(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)

	c, _ := config(t, w, "echo mine")
	binary := filepath.Join(t.TempDir(), "slipway")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "slipway/cmd/slipway").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pipe, gone := alive(t)
	proceed := filepath.Join(t.TempDir(), "proceed")
	cmd := exec.CommandContext(t.Context(), binary, "runner", "--server", w.URL, "--work-dir", c.WorkDir, "--poll", "20ms",
		"--exec", `exec 4>"$ALIVE"; echo started; until [ -e "$PROCEED" ]; do sleep 0.02; done`)
	cmd.Env = append(os.Environ(), "SLIPWAY_TOKEN="+w.Acme.Tokens[actor.Runner], "ALIVE="+pipe, "PROCEED="+proceed)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	says(t, w, d.ID, "started")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	until(t, "the server gives it up", func() bool { return read(t, w, d.ID).Status == "FAILED" })
	if got := read(t, w, d.ID); got.Error.Code != string(fault.DeploymentLeaseExpired) {
		t.Errorf("%+v", got.Error)
	}
	next := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`) // the instance is free
	start(t, c)
	says(t, w, next.ID, "Waiting for the program of an earlier deployment, which still runs in the instance's folder.")
	if err := os.WriteFile(proceed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustGo(t, gone)
	until(t, "the next succeeds", func() bool { return read(t, w, next.ID).Status == "SUCCEEDED" })
}
