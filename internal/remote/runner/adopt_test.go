package runner_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/remote/runner"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// stepwise is a program that does the next step when a file exists.
const stepwise = `echo started; until [ -e "$STEPS/1" ]; do sleep 0.02; done; for i in $(seq 500); do echo "away $i"; done; touch "$STEPS/away"
until [ -e "$STEPS/2" ]; do sleep 0.02; done; echo finished; echo "and why" >&2; touch "$STEPS/ended"; exit 4`

// stage has a runner's process that carries a deployment out.
type stage struct {
	w *worldtest.World
	c runner.Config
	// id is the deployment's; folder has the files that tell the program what to do.
	id, folder string
}

func newStage(t *testing.T, command string) *stage {
	t.Helper()
	s := &stage{w: worldtest.New(t, worldtest.SQLite(t)), folder: t.TempDir()}
	p := s.w.Fixture(t, s.w.Acme, "web")
	s.id = p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`).ID
	s.c, _ = config(t, s.w, command)
	s.c.Environ = append(s.c.Environ, "STEPS="+s.folder)
	return s
}

func (s *stage) tell(t *testing.T, step string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, step), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) await(t *testing.T, step string) {
	t.Helper()
	until(t, "the program is "+step, func() bool {
		_, err := os.Stat(filepath.Join(s.folder, step))
		return err == nil
	})
}

// allSaid wants each line of the program once, and its end.
func (s *stage) allSaid(t *testing.T) {
	t.Helper()
	until(t, "it is completed", func() bool { return read(t, s.w, s.id).CompletedAt != nil })
	got := read(t, s.w, s.id)
	if got.Status != "FAILED" || got.Error.Message != "The program ended with exit code 4." || got.Error.Description != "and why" {
		t.Errorf("%s %+v", got.Status, got.Error)
	}
	want := []string{"started"}
	for i := range 500 {
		want = append(want, fmt.Sprint("away ", 1+i))
	}
	said := logs(t, s.w, s.id)
	if why := slices.Index(said, "! and why"); why >= 0 { // it comes by another pipe, before some of them or after
		said = slices.Delete(said, why, why+1)
	} else {
		t.Error("standard error is missing")
	}
	if want = append(want, "finished"); !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
	until(t, "the keeper's folder is gone", func() bool {
		left, err := os.ReadDir(filepath.Join(s.c.WorkDir, ".keepers"))
		return err == nil && len(left) == 0
	})
}

func TestNextRunnerAdoptsRunningPrograms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		by syscall.Signal
		// ended lets the program end before the next runner comes.
		ended bool
		// beside starts the next runner while the first is there.
		beside bool
	}{
		"after it was killed":                   {by: syscall.SIGKILL},
		"after it was killed, and has ended":    {by: syscall.SIGKILL, ended: true},
		"that an orderly end leaves":            {by: syscall.SIGUSR2},
		"that an orderly end leaves, and ended": {by: syscall.SIGUSR2, ended: true},
		"of one beside it that is killed":       {by: syscall.SIGKILL, beside: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepwise)
			first := launch(t, s.w, s.c)
			says(t, s.w, s.id, "started")
			if test.beside {
				start(t, s.c)
			}
			if err := first.end(test.by); test.by == syscall.SIGUSR2 && err != nil {
				t.Error(err)
			}
			s.tell(t, "1")
			s.await(t, "away")
			if test.ended {
				s.tell(t, "2")
				s.await(t, "ended")
			}
			if !test.beside {
				start(t, s.c)
			}
			s.tell(t, "2")
			s.allSaid(t)
		})
	}
}

// The answers to reports are lost until the runner is killed: the server has what the runner does not know
// to be reported.
func TestReportWhoseAnswerIsLostWithItsRunnerIsNotDoubled(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepwise)
	between := newProxy(t, s.w.URL, always(none))
	s.c.Server = between.url
	first := launch(t, s.w, s.c)
	says(t, s.w, s.id, "started")
	between.set(s.w.URL, always(lostAnswer))
	s.tell(t, "1")
	says(t, s.w, s.id, "away 1")
	_ = first.end(syscall.SIGKILL)
	between.set(s.w.URL, always(none))
	start(t, s.c)
	s.tell(t, "2")
	s.allSaid(t)
}

func TestProgramEndsBeforeItsLeaseWhateverBecomesOfItsRunner(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(t *testing.T, s *stage, first *process){
		"the runner is killed": func(_ *testing.T, _ *stage, first *process) { _ = first.end(syscall.SIGKILL) },
		"the runner is frozen": func(t *testing.T, _ *stage, first *process) {
			if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		},
		"the keeper is killed": func(t *testing.T, s *stage, _ *process) {
			if err := syscall.Kill(keeperOf(t, s.c, s.id), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		},
		"both are killed": func(t *testing.T, s *stage, first *process) {
			if err := errors.Join(first.Process.Signal(syscall.SIGKILL), syscall.Kill(keeperOf(t, s.c, s.id), syscall.SIGKILL)); err != nil {
				t.Fatal(err)
			}
		},
		"both are frozen": func(t *testing.T, s *stage, first *process) {
			if err := errors.Join(first.Process.Signal(syscall.SIGSTOP), syscall.Kill(keeperOf(t, s.c, s.id), syscall.SIGSTOP)); err != nil {
				t.Fatal(err)
			}
		},
		"the keeper is frozen": func(t *testing.T, s *stage, _ *process) {
			if err := syscall.Kill(keeperOf(t, s.c, s.id), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, `exec 4>"$ALIVE"; trap '' TERM; echo started; (while :; do sleep 600; done) & wait; while :; do sleep 600; done`)
			s.w.Deploy.Execution.LeaseTime = 8 * time.Second
			between := newProxy(t, s.w.URL, always(none))
			pipe, gone := testkit.Lifeline(t)
			s.c.Server, s.c.Environ = between.url, append(s.c.Environ, "ALIVE="+pipe)
			first := launch(t, s.w, s.c)
			says(t, s.w, s.id, "started")
			between.set(s.w.URL, always(lostRequest))
			happens(t, s, first)
			testkit.MustEnd(t, gone)
			now, d := time.Now(), read(t, s.w, s.id)
			if !now.Before(*d.LeaseExpiresAt) {
				t.Errorf("it ended %s after its lease", now.Sub(*d.LeaseExpiresAt))
			}
		})
	}
}

func TestProgramWhoseKeeperIsKilledFailsAndItsChildrenWithIt(t *testing.T) {
	t.Parallel()
	for name, both := range map[string]bool{"alone": false, "with its runner": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, `exec 4>"$ALIVE"; (trap '' TERM; while :; do sleep 600; done) & echo started; wait`)
			pipe, gone := testkit.Lifeline(t)
			s.c.Environ = append(s.c.Environ, "ALIVE="+pipe)
			first := launch(t, s.w, s.c)
			says(t, s.w, s.id, "started")
			id := keeperOf(t, s.c, s.id)
			if both {
				_ = first.end(syscall.SIGKILL)
			}
			if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if both {
				start(t, s.c)
			}
			testkit.MustEnd(t, gone)
			until(t, "it is completed", func() bool { return read(t, s.w, s.id).CompletedAt != nil })
			if got := read(t, s.w, s.id); got.Status != "FAILED" ||
				!strings.HasPrefix(got.Error.Message, "How the program ended is unknown") {
				t.Errorf("%s %+v", got.Status, got.Error)
			}
		})
	}
}
