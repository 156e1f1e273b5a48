package runner_test

import (
	"context"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestRunnerThatIsKilledLeavesTheInstanceFree(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.Execution.LeaseTime = 6 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go w.RunHousekeeping(ctx, slog.New(slog.DiscardHandler))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	c, _ := config(t, w, `exec 4>"$ALIVE"; echo started; sleep 600`)
	pipe, gone := testkit.Lifeline(t)
	c.Environ = append(c.Environ, "ALIVE="+pipe)
	first := launch(t, w, c)
	says(t, w, d.ID, "started")
	_ = first.end(syscall.SIGKILL)
	testkit.MustEnd(t, gone)
	until(t, "the server gives it up", func() bool { return read(t, w, d.ID).Status == "FAILED" })
	if got := read(t, w, d.ID); got.Error.Code != string(fault.DeploymentLeaseExpired) {
		t.Errorf("%+v", got.Error)
	}
	next := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
	c.Command = "echo mine"
	start(t, c)
	until(t, "the next succeeds", func() bool { return read(t, w, next.ID).Status == "SUCCEEDED" })
}

// Something that has left the program's process group has the folder open, and its keeper is killed before
// it can give up the lock.
func TestFolderBelongsToWhatIsLeftOfAnEarlierProgram(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	pipe, gone := testkit.Lifeline(t)
	c, _ := config(t, w, `[ -e away ] && exit 0; exec 4>"$ALIVE"; setsid sh -c 'touch away; until [ -e proceed ]; do sleep 0.02; done' &
until [ -e away ]; do sleep 0.02; done; echo started; sleep 600`)
	c.Environ = append(c.Environ, "ALIVE="+pipe)
	start(t, c)
	says(t, w, d.ID, "started")
	if err := syscall.Kill(keeperOf(t, c, d.ID), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "it fails", func() bool { return read(t, w, d.ID).Status == "FAILED" })
	next := p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`)
	says(t, w, next.ID, "Waiting for the program of an earlier deployment, which still runs in the instance's folder.")
	touch(t, c, p.Instance.ID, "proceed")
	testkit.MustEnd(t, gone)
	until(t, "the next succeeds", func() bool { return read(t, w, next.ID).Status == "SUCCEEDED" })
}
