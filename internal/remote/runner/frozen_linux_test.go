package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/remote/runner"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// freezeKeeper freezes the keeper of a deployment's program and its guard, until the test ends.
func freezeKeeper(t *testing.T, c runner.Config, deploymentID string) {
	t.Helper()
	id := keeperOf(t, c, deploymentID)
	for _, id := range []int{guardOf(t, id), id} {
		if err := syscall.Kill(id, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Kill(id, syscall.SIGCONT) })
	}
}

// guardOf returns the id of a keeper's guard.
func guardOf(t *testing.T, keeperID int) (id int) {
	t.Helper()
	until(t, "the keeper has a guard", func() bool {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", keeperID))
		for _, list := range lists {
			children, _ := os.ReadFile(list) // of a thread that has ended: none
			for _, child := range strings.Fields(string(children)) {
				name, _ := os.ReadFile(filepath.Join("/proc", child, "comm"))
				if string(name) == "lease-guard\n" {
					id, err = strconv.Atoi(child)
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		return id != 0
	})
	return id
}

func TestRunnerWatchesAProgramWhoseKeeperAndGuardAreFrozen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cancel        bool
		status, error string
	}{
		"which is canceled":    {true, "CANCELED", "The program was ended by signal 9 (killed)."},
		"which ends by itself": {false, "FAILED", "How the program ended is unknown: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.SQLite(t))
			w.Deploy.Execution.LeaseTime, w.Deploy.Execution.CancelTimeout = 6*time.Second, time.Second
			p := w.Fixture(t, w.Acme, "web")
			d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
			c, _ := config(t, w, `trap '' TERM; exec 4>"$ALIVE"; echo started; until [ -e proceed ]; do sleep 0.02; done`)
			pipe, gone := testkit.Lifeline(t)
			between := newProxy(t, w.URL, func(operation string, _ int) trouble {
				if operation == "completeDeployment" {
					select {
					case <-gone:
					default:
						t.Error("it is completed as the program still runs")
					}
				}
				return none
			})
			c.Server, c.Environ = between.url, append(c.Environ, "ALIVE="+pipe)
			start(t, c)
			says(t, w, d.ID, "started")
			freezeKeeper(t, c, d.ID)
			if test.cancel {
				if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
					t.Fatal(err)
				}
			} else {
				touch(t, c, p.Instance.ID, "proceed")
			}
			testkit.MustEnd(t, gone)
			until(t, "it is completed", func() bool { return read(t, w, d.ID).CompletedAt != nil })
			got := read(t, w, d.ID)
			if string(got.Status) != test.status || !strings.Contains(fmt.Sprintf("%+v", got.Error), test.error) {
				t.Errorf("%s %+v", got.Status, got.Error)
			}
		})
	}
}
