package keeper_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
)

// stubborn is a program that takes no SIGTERM and has a child that does not either, and has closed what it inherited but
// the pipe that shows it living.
const stubborn = `trap '' TERM; (exec 3>&-; while :; do sleep 600; done) & echo started; while :; do sleep 600; done`

// ids returns those of the processes of the program.
func (w *world) ids(t *testing.T) (ids struct{ Keeper, Group int }) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.root, "program", "process.json"))
	if err == nil {
		err = json.Unmarshal(text, &ids)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// guardOf returns the id of the guard of a keeper, 0 if it has none now.
func guardOf(t *testing.T, keeperID int) int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || string(text) != "lease-guard\n" {
			continue
		}
		id := filepath.Base(filepath.Dir(name))
		if fields := stat(id); len(fields) > 3 && fields[0] != "Z" && fields[1] == strconv.Itoa(keeperID) {
			n, err := strconv.Atoi(id)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// stat returns state, parent, group and session of a process.
func stat(id string) []string {
	text, err := os.ReadFile("/proc/" + id + "/stat")
	if err != nil {
		return nil
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return strings.Fields(after)[:4]
}

// hasEnded reports whether a process has ended, though its parent may not know.
func hasEnded(id int) bool {
	fields := stat(strconv.Itoa(id))
	return fields == nil || fields[0] == "Z"
}

// mustGuard waits until a keeper has a guard that is not another one.
func mustGuard(t *testing.T, keeperID, not int) (id int) {
	t.Helper()
	if !testkit.Eventually(t, "the keeper has a guard", func() bool {
		id = guardOf(t, keeperID)
		return id != 0 && id != not
	}) {
		t.FailNow() // a signal to process 0 is one to this process and to all of its group
	}
	return id
}

func kill(t *testing.T, id int, by syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(id, by); err != nil {
		t.Fatalf("signal %d: %v", by, err)
	}
}

// freeze stops a process until it gets SIGCONT, and waits until all of its threads have stopped.
func freeze(t *testing.T, id int) {
	t.Helper()
	kill(t, id, syscall.SIGSTOP)
	testkit.Eventually(t, "it is frozen", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", id))
		return err == nil && !slices.ContainsFunc(threads, func(thread string) bool {
			fields := stat(strings.TrimPrefix(thread, "/proc/"))
			return fields != nil && fields[0] != "T"
		})
	})
}

func TestProgramDiesWithItsKeeperThoughNobodyLooks(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{
		"with a child":             stubborn,
		"which closed what it had": `exec 3>&-; ` + stubborn,
	} {
		for _, guards := range []struct {
			number int
			frozen bool
		}{{number: 1}, {number: 3}, {number: 1, frozen: true}} {
			t.Run(fmt.Sprintf("%s, guard %d, frozen %t", name, guards.number, guards.frozen), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				k, gone := w.start(t, program, w.lease(time.Hour), time.Hour)
				lines(t, k, 0, 1)
				ids := w.ids(t)
				guard := mustGuard(t, ids.Keeper, 0)
				for range guards.number - 1 {
					kill(t, guard, syscall.SIGKILL)
					guard = mustGuard(t, ids.Keeper, guard)
				}
				if guards.frozen { // until the kernel has killed the program's first process, and the locks are free
					freeze(t, guard)
				}
				kill(t, ids.Keeper, syscall.SIGKILL)
				if guards.frozen {
					testkit.Eventually(t, "the keeper is gone", func() bool { return hasEnded(ids.Keeper) && hasEnded(ids.Group) })
					kill(t, guard, syscall.SIGCONT)
				}
				testkit.MustEnd(t, gone) // nobody has waited for its end
				if got := end(t, k); got.Stopped != keeper.Unknown {
					t.Errorf("%+v", got)
				}
				testkit.Eventually(t, "the guard has ended", func() bool { return hasEnded(guard) })
			})
		}
	}
}

func TestFrozenKeeperLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	// The guard kills the program in time, and the keeper, with which the program would die, some time later.
	for try, inTime := 0, false; !inTime; try++ {
		w := newWorld(t)
		k, gone := w.start(t, stubborn, w.lease(time.Hour), time.Hour)
		lines(t, k, 0, 1)
		ids := w.ids(t)
		mustGuard(t, ids.Keeper, 0)
		freeze(t, ids.Keeper)
		w.jump(t, shift{Wall: 2 * time.Hour, Boot: 2 * time.Hour})
		testkit.MustEnd(t, gone)
		inTime = !hasEnded(ids.Keeper)
		if got := end(t, k); got.Stopped != keeper.Unknown {
			t.Errorf("%+v", got)
		}
		if try == 2 && !inTime { // the machine may have stood still so long once
			t.Error("the program ended with its keeper, and not before")
			break
		}
	}
}

// Signals are sent to all processes of a name, of a text in the command line, of a session or a group.
func TestGuardIsNotHitWithItsKeeper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, _ := w.start(t, `echo started; sleep 600`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	ids := w.ids(t)
	guard := strconv.Itoa(mustGuard(t, ids.Keeper, 0))
	commandLine, err := os.ReadFile("/proc/" + guard + "/cmdline")
	if got := string(commandLine); err != nil || got != "lease-guard\x00guard\x00" {
		t.Errorf("%v, the command line is %q", err, got)
	}
	if of := stat(guard); of[2] != guard || of[3] != guard {
		t.Errorf("group %s, session %s of the guard %s", of[2], of[3], guard)
	}
	kill(t, ids.Keeper, syscall.SIGTERM) // is not for it
	kill(t, -ids.Keeper, syscall.SIGKILL)
	testkit.Eventually(t, "the program has ended", func() bool { return syscall.Kill(-ids.Group, 0) != nil })
}

// A program whose lease was renewed while the keeper or the guard was frozen goes on when they do.
func TestWhoWasFrozenHearsOfTheLeaseFirst(t *testing.T) {
	t.Parallel()
	for _, frozen := range []string{"keeper", "guard"} {
		t.Run(frozen, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			k, gone := w.start(t, `trap 'echo told; exit 3' TERM; echo started; until [ -e proceed ]; do sleep 0.05; done`, w.lease(time.Hour), time.Hour)
			lines(t, k, 0, 1)
			ids := w.ids(t)
			// The keeper would stop the program when a third of its lease is left, the guard at its end.
			id, by := ids.Keeper, 45*time.Minute
			if frozen == "guard" {
				id, by = mustGuard(t, ids.Keeper, 0), 2*time.Hour
			}
			freeze(t, id)
			renewed := w.lease(20 * time.Hour)
			if err := k.Renew(renewed); err != nil {
				t.Fatal(err)
			}
			if frozen == "guard" {
				k = w.adopt(t, k) // which is told what the guard was told before
				if got := k.Lease(); got.End.Boot != renewed.End.Boot {
					t.Errorf("the keeper has the lease %+v", got)
				}
			}
			w.jump(t, shift{Wall: by, Boot: by})
			kill(t, id, syscall.SIGCONT)
			// Each has looked at the clock when a guard of before has killed, and one more renewal has arrived.
			if err := k.Renew(w.lease(30 * time.Hour)); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "it runs again", func() bool { return stat(strconv.Itoa(id))[0] != "T" })
			for range 5 {
				k = w.adopt(t, k)
			}
			if err := os.WriteFile(filepath.Join(w.dir, "proceed"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			testkit.MustEnd(t, gone)
			if got := end(t, k); got != (keeper.End{}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Where a process is frozen is not up to who freezes it: between its hearing and its look at the clock, too.
func TestWhoLooksAtTheClockLateHearsOfTheLeaseFirst(t *testing.T) {
	t.Parallel()
	for _, late := range []string{"keeper", "guard"} {
		t.Run(late, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			k, gone := w.start(t, `trap 'exit 3' TERM; echo started; until [ -e proceed ]; do sleep 0.05; done`, w.lease(time.Hour), time.Hour)
			lines(t, k, 0, 1)
			ids := w.ids(t)
			id, by := ids.Keeper, 45*time.Minute
			if late == "guard" {
				id, by = mustGuard(t, ids.Keeper, 0), 2*time.Hour
			}
			renewed := w.lease(20 * time.Hour)
			answer, release := w.holdClock(t, id)
			if err := k.Renew(renewed); err != nil {
				t.Fatal(err)
			}
			if late == "guard" {
				k = w.adopt(t, k) // which is told what the guard was told before
			}
			answer(shift{Wall: by, Boot: by})
			release()
			if err := os.WriteFile(filepath.Join(w.dir, "proceed"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			testkit.MustEnd(t, gone)
			if got := end(t, k); got != (keeper.End{}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestProgramOfAFrozenKeeperIsAdoptedWhenThatGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, _ := w.start(t, `echo started; sleep 600`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	id := w.ids(t).Keeper
	freeze(t, id)
	k.Detach()
	// A process that is being started beside this may hold the folder for a moment.
	testkit.Eventually(t, "it is said that its keeper does not answer", func() bool {
		adopted, err := keeper.Adopt(w.root, func(*keeper.Handle) bool { return true })
		if len(adopted) > 0 {
			t.Errorf("%d adopted, %v", len(adopted), err)
		}
		return err != nil && strings.Contains(err.Error(), "its keeper does not answer")
	})
	kill(t, id, syscall.SIGCONT)
	if got := w.adopt(t, k).Lease(); got.Length != time.Hour {
		t.Errorf("%+v", got)
	}
}

// adopt leaves a program and adopts it.
func (w *world) adopt(t *testing.T, k *keeper.Handle) *keeper.Handle {
	t.Helper()
	k.Detach()
	var adopted []*keeper.Handle
	if !testkit.Eventually(t, "the program is adopted", func() bool {
		var err error
		adopted, err = keeper.Adopt(w.root, func(*keeper.Handle) bool { return true })
		if err != nil {
			t.Log(err)
		}
		return len(adopted) == 1
	}) {
		t.FailNow()
	}
	t.Cleanup(func() { stop(t, adopted[0]) })
	return adopted[0]
}

// The id of the group that a keeper had noted may be another's by now; that has the program's folder, too.
func TestGroupOfAnotherIsNotKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k, gone := w.start(t, `echo started; sleep 600`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	ids := w.ids(t)
	other := exec.CommandContext(t.Context(), "flock", w.dir, "sleep", "600")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	kill(t, ids.Keeper, syscall.SIGKILL)
	testkit.MustEnd(t, gone)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"keeper":%d,"group":%d,"dir":%q}`, ids.Keeper, other.Process.Pid, w.dir)
	if err := os.WriteFile(filepath.Join(w.root, "program", "process.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the folder is the other's", func() bool { return len(stat(strconv.Itoa(other.Process.Pid))) > 0 })
	if got := end(t, k); got.Stopped != keeper.Unknown {
		t.Errorf("%+v", got)
	}
	if hasEnded(other.Process.Pid) {
		t.Error("the other was killed")
	}
	_ = syscall.Kill(-other.Process.Pid, syscall.SIGKILL)
	_ = other.Wait()
}
