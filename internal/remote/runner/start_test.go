package runner_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/deploymentlog"
	"slipway/internal/base/actor"
	"slipway/internal/pure/module"
	"slipway/internal/pure/runlog"
	"slipway/internal/remote/runner"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// config is that of a runner of acme's, in a folder of its own.
func config(t *testing.T, w *worldtest.World, command string) (runner.Config, *testkit.Log) {
	t.Helper()
	var log testkit.Log
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the runner's log:\n%s", &log)
		}
	})
	return runner.Config{
		Server: w.URL, Token: w.Acme.Tokens[actor.Runner], Kinds: module.DeploymentTypes, Command: command,
		Environ: append(os.Environ(), "SLIPWAY_TOKEN=secret"), WorkDir: workDir(t),
		Poll: 20 * time.Millisecond, ShutdownTimeout: testkit.Patience, StopGrace: testkit.Patience,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, &log
}

// workDir returns a folder that is removed with the test, when no keeper writes into it any more.
func workDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(os.TempDir(), "slipway-runner-") //nolint:usetesting // which removes it once
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testkit.Eventually(t, "the work folder is removed", func() bool { return os.RemoveAll(dir) == nil })
	})
	return dir
}

// start runs a runner until it is stopped; stop shuts it down and waits until it has ended.
func start(t *testing.T, c runner.Config) (stop func() error) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx, c); close(done) }()
	stop = func() error { end(); return <-done }
	t.Cleanup(func() { _ = stop() })
	return stop
}

// once carries out what is waiting.
func once(t *testing.T, c runner.Config) {
	t.Helper()
	c.Once = true
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	if err := runner.Run(ctx, c); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatal("the runner did not end by itself")
	}
}

// until waits for something to happen.
func until(t *testing.T, what string, happened func() bool) {
	t.Helper()
	if !testkit.Eventually(t, what, happened) {
		t.FailNow()
	}
}

// read returns a deployment as it is now.
func read(t *testing.T, w *worldtest.World, id string) *ent.Deployment {
	t.Helper()
	d, err := w.Store.Client.Deployment.Get(w.Acme.As(actor.Viewer), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// logs are the lines of a deployment's log, in order; those of standard error begin with "! ".
func logs(t *testing.T, w *worldtest.World, id string) (list []string) {
	t.Helper()
	lines, err := w.Store.Client.DeploymentLog.Query().Where(deploymentlog.DeploymentID(id)).
		Order(ent.Asc(deploymentlog.FieldSequence)).All(w.Acme.As(actor.Viewer))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range lines {
		if l.Sequence != lines[0].Sequence+int64(i) {
			t.Errorf("line %d is followed by line %d", lines[i-1].Sequence, l.Sequence)
		}
		text := l.Text
		if l.Stream == runlog.Stderr {
			text = "! " + text
		}
		list = append(list, text)
	}
	return list
}

// messages are those of a deployment's events, in order.
func messages(t *testing.T, w *worldtest.World, id string) (list []string) {
	t.Helper()
	d := read(t, w, id)
	events, err := state.Events(t.Context(), d.Data, d.Events)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		text := "-"
		if e.Message != nil {
			text = *e.Message
		}
		list = append(list, text)
	}
	return list
}

// says waits until the program of a deployment has said something.
func says(t *testing.T, w *worldtest.World, id, line string) {
	t.Helper()
	until(t, "the program says "+line, func() bool {
		return slices.Contains(logs(t, w, id), line)
	})
}
