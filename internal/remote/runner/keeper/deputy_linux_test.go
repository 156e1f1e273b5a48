package keeper_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
)

// startFrozen starts a program, whose keeper and guard are then frozen until the test ends.
func (w *world) startFrozen(t *testing.T, command string) (k *keeper.Handle, gone <-chan struct{}) {
	t.Helper()
	k, gone = w.start(t, command, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	ids := w.ids(t)
	for _, id := range []int{mustGuard(t, ids.Keeper, 0), ids.Keeper} {
		freeze(t, id)
		t.Cleanup(func() { _ = syscall.Kill(id, syscall.SIGCONT) })
	}
	return k, gone
}

func TestRunnerKillsWhatKeeperAndGuardDoNot(t *testing.T) {
	t.Parallel()
	for name, over := range map[keeper.Reason]func(t *testing.T, w *world, k *keeper.Handle){
		keeper.Canceled: func(t *testing.T, w *world, k *keeper.Handle) {
			if err := k.Stop(keeper.Canceled, w.clock().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if k.Overdue(w.clock().Add(time.Minute)) {
				t.Error("it leaves the keeper no time to do it")
			}
			w.jump(t, shift{Wall: 2 * time.Minute, Boot: 2 * time.Minute})
		},
		keeper.LeaseExpiring: func(t *testing.T, w *world, _ *keeper.Handle) {
			w.jump(t, shift{Wall: time.Hour, Boot: time.Hour})
		},
	} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			k, gone := w.startFrozen(t, stubborn)
			if k.Overdue(w.clock()) {
				t.Error("it is overdue before its time")
			}
			over(t, w, k)
			if !k.Overdue(w.clock()) {
				t.Fatal("it is not overdue")
			}
			if err := k.Kill(); err != nil {
				t.Error(err)
			}
			testkit.MustEnd(t, gone)
			if got, want := end(t, k), (keeper.End{ExitCode: -1, Signal: syscall.SIGKILL, Stopped: name}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

func TestEndThatAFrozenKeeperDoesNotTellIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.startFrozen(t, `echo started; until [ -e proceed ]; do sleep 0.02; done`)
	if err := k.KillSilent(); err != nil || hasEnded(w.ids(t).Keeper) {
		t.Errorf("%v, as the program still runs", err)
	}
	proceed(t, w)
	testkit.MustEnd(t, gone)
	group := w.ids(t).Group
	testkit.Eventually(t, "it has ended", func() bool { return hasEnded(group) })
	if err := k.Kill(); err != nil || hasEnded(w.ids(t).Keeper) {
		t.Errorf("%v, a program that has ended was killed", err)
	}
	if err := k.KillSilent(); err != nil {
		t.Error(err)
	}
	if got := end(t, k); got.Stopped != keeper.Unknown {
		t.Errorf("%+v", got)
	}
}

// The keeper waits for the last words of what has left the group.
func TestKeeperThatIsStillAtWorkIsNotKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, _ := w.start(t, `setsid sh -c 'until [ -e proceed ]; do echo more; sleep 0.1; done' & echo started; exit 3`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	ids := w.ids(t)
	testkit.Eventually(t, "the program has ended", func() bool { return hasEnded(ids.Group) })
	for range 3 {
		if err := k.KillSilent(); err != nil {
			t.Error(err)
		}
	}
	proceed(t, w)
	if got, want := end(t, k), (keeper.End{ExitCode: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// proceed makes the file for which a program waits.
func proceed(t *testing.T, w *world) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "proceed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
