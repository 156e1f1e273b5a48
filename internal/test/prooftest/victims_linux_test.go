package prooftest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
)

// victims are the processes that watch a lease. They are hit in this order, so that no keeper replaces a guard first.
var victims = []string{"guard", "keeper", "runner"}

// victimTroubles are those in which any of the victims but not all are frozen or killed, and then the deployment is
// canceled, or its lease ends.
func victimTroubles() map[string]func(*try) error {
	all := map[string]func(*try) error{}
	for set := 1; set < 1<<len(victims)-1; set++ {
		var hit []string
		for i, victim := range victims {
			if set&(1<<i) != 0 {
				hit = append(hit, victim)
			}
		}
		name := strings.Join(hit, " and ") + " frozen or killed"
		all[name] = func(try *try) error {
			try.gate.cut()
			return try.hit(hit)
		}
		all[name+", canceled"] = func(try *try) error {
			if err := try.hit(hit); err != nil {
				return err
			}
			_, err := try.w.Deploy.Execution.Cancel(try.w.Acme.As(actor.Developer), try.first.ID, nil)
			return err
		}
	}
	return all
}

// hit freezes or kills processes: all in the first two rounds, and one of them otherwise than the rest in the next two.
func (try *try) hit(who []string) error {
	keeperID, runnerID, err := try.process()
	if err != nil {
		return err
	}
	guardID, err := guardOf(keeperID)
	if err != nil {
		return err
	}
	ids := map[string]int{"guard": guardID, "keeper": keeperID, "runner": runnerID}
	for i, victim := range who {
		by := syscall.SIGSTOP
		if isOther := i == 0 && try.round%4 > 1; try.round%2 == 1 != isOther {
			by = syscall.SIGKILL
		}
		err = errors.Join(err, syscall.Kill(ids[victim], by))
		try.frozen = append(try.frozen, ids[victim])
	}
	return err
}

// guardOf returns the id of the guard of a keeper, which has one before its program begins, though not by its name at once.
func guardOf(keeperID int) (id int, err error) {
	late := time.After(testkit.Patience)
	for id == 0 && err == nil {
		if id, err = findGuard(keeperID); id == 0 {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-late:
				err = fmt.Errorf("the keeper %d has no guard", keeperID)
			}
		}
	}
	return id, err
}

// findGuard returns the id of the child of a keeper that has a guard's name, 0 if there is none.
func findGuard(keeperID int) (int, error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", keeperID))
	if err != nil {
		return 0, err
	}
	for _, list := range lists {
		children, _ := os.ReadFile(list) // of a thread that has ended: none
		for _, child := range strings.Fields(string(children)) {
			name, _ := os.ReadFile(filepath.Join("/proc", child, "comm"))
			if string(name) == "lease-guard\n" {
				return strconv.Atoi(child)
			}
		}
	}
	return 0, nil
}
