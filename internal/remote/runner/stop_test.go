package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/remote/runner"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestCanceledProgramEndsWithItsChildrenBeforeItsInstanceIsFree(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lease, timeout time.Duration
		program        string
		status         string
		lastWords      []string
	}{
		"which is silent": {6 * time.Second, time.Hour, `echo started; exec sleep 600`,
			"CANCELED", []string{"The program was ended by signal 15 (terminated)."}},
		"which reports": {time.Hour, time.Hour, `trap 'echo "stopped half-way" >&2; exit 9' TERM; echo started; while sleep 0.1; do echo more; done`,
			"CANCELED", []string{"The program ended with exit code 9.", "stopped half-way"}},
		"which takes no SIGTERM": {6 * time.Second, time.Second, `trap '' TERM; echo started; while :; do sleep 600; done`,
			"CANCELED", []string{"The program was ended by signal 9 (killed)."}},
		"whose child takes a while": {6 * time.Second, time.Hour, `(trap 'sleep 0.3; echo late >&4; exit' TERM; sleep 600 & wait) & echo started; wait`,
			"CANCELED", []string{"The program was ended by signal 15 (terminated)."}},
		"which ends well all the same": {6 * time.Second, time.Hour, `trap 'echo undone; exit 0' TERM; echo started; sleep 600 & wait`,
			"SUCCEEDED", nil},
		"which prints without an end": {time.Hour, time.Hour, `echo started; exec yes`,
			"CANCELED", []string{"The program was ended by signal 15 (terminated)."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.SQLite(t))
			w.Deploy.Execution.LeaseTime, w.Deploy.Execution.CancelTimeout = test.lease, test.timeout
			p := w.Fixture(t, w.Acme, "web")
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			c, _ := config(t, w, `exec 4>"$ALIVE"; `+test.program)
			pipe, gone := testkit.Lifeline(t)
			between := newProxy(t, w.URL, func(operation string, _ int) trouble {
				if operation == "completeDeployment" && lives(groupOf(t, c, d.ID)) {
					t.Error("it is completed as the program still runs")
				}
				return none
			})
			c.Server, c.Environ = between.url, append(c.Environ, "ALIVE="+pipe)
			stop := start(t, c)
			until(t, "it runs", func() bool { return len(logs(t, w, d.ID)) > 0 })
			asked, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil)
			if err != nil || asked.Status != "RUNNING" {
				t.Fatalf("%v, %s", err, asked.Status)
			}
			testkit.MustEnd(t, gone)
			until(t, "it has ended", func() bool { return read(t, w, d.ID).CompletedAt != nil })
			got := read(t, w, d.ID)
			if string(got.Status) != test.status {
				t.Errorf("%s %+v", got.Status, got.Error)
			}
			if got.Error != nil {
				words := strings.Split(strings.Join(got.Error.Details[0].Items, "\n"), "\n")
				// A shell says so of its child, or does not.
				words = slices.DeleteFunc(words, func(word string) bool { return word == "Terminated" })
				if diff := cmp.Diff(test.lastWords, words); diff != "" || got.Error.Code != string(fault.DeploymentCanceled) {
					t.Errorf("%s %s", got.Error.Code, diff)
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`) // the instance is free
		})
	}
}

func TestRunnerThatIsToEndLetsProgramsFinishAndClaimsNoMore(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	proceed := filepath.Join(t.TempDir(), "proceed")
	c, log := config(t, w, `echo started; until [ -e "$PROCEED" ]; do sleep 0.02; done; echo finished`)
	c.Environ, c.Parallel = append(c.Environ, "PROCEED="+proceed), 2
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- runner.Run(ctx, c) }()
	says(t, w, d.ID, "started")
	end()
	until(t, "its last claim is answered", func() bool { return strings.Contains(log.String(), "shutting down") })
	waiting := p.Deploy(t, p.NewInstance(t, "other").ID, `{"image":"web:1"}`)
	if err := os.WriteFile(proceed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := read(t, w, d.ID); got.Status != "SUCCEEDED" {
		t.Errorf("%s", got.Status)
	}
	if got := read(t, w, waiting.ID); got.Status != "PENDING" {
		t.Errorf("the runner has claimed once more: %s", got.Status)
	}
}

func TestProgramThatOutlivesTheShutdownTimeoutFails(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	pipe, gone := testkit.Lifeline(t)
	c, _ := config(t, w, `exec 4>"$ALIVE"; trap 'echo "told to end" >&2; exit 0' TERM; echo started; sleep 600 & wait`)
	c.Environ, c.ShutdownTimeout = append(c.Environ, "ALIVE="+pipe), 100*time.Millisecond
	stop := start(t, c)
	says(t, w, d.ID, "started")
	if err := stop(); err != nil {
		t.Error(err)
	}
	testkit.MustEnd(t, gone)
	got := read(t, w, d.ID)
	if got.Status != "FAILED" || got.Error.Message != "The runner was shut down, and the program had not ended 100ms later." ||
		got.Error.Description != "told to end" {
		t.Errorf("%s %+v", got.Status, got.Error)
	}
}

func TestTokenThatMayNotRunEndsTheRunner(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	for token, code := range map[string]fault.Code{
		w.Acme.Tokens[actor.Viewer]: fault.DeploymentForbidden,
		"slp_runner_unknown":        fault.RequestUnauthenticated,
	} {
		c, _ := config(t, w, "true")
		c.Token = token
		err := runner.Run(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), string(code)) || !strings.Contains(err.Error(), "gives no work") {
			t.Errorf("%v, want %s", err, code)
		}
	}
	c, _ := config(t, w, "true")
	c.Server += "/elsewhere"
	if err := runner.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), string(fault.RequestNotFound)) {
		t.Errorf("at a wrong path: %v", err)
	}
}

func TestClaimWhoseAnswerIsLostAsTheRunnerIsToEndIsCarriedOut(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.SQLite(t))
	p := w.Fixture(t, w.Acme, "web")
	d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	between := newProxy(t, w.URL, func(operation string, n int) trouble {
		if operation == "claimDeployment" && n == 1 {
			end()
			return lostAnswer
		}
		return none
	})
	c, _ := config(t, w, "true")
	c.Server = between.url
	if err := runner.Run(ctx, c); err != nil {
		t.Error(err)
	}
	if got := read(t, w, d.ID); got.Status != "SUCCEEDED" {
		t.Errorf("%s", got.Status)
	}
}
