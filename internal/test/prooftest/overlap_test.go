package prooftest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// troubles are what may happen to a runner as its program runs.
var troubles = map[string]func(try *try) error{
	"canceled": func(try *try) error {
		_, err := try.w.Deploy.Execution.Cancel(try.w.Acme.As(actor.Developer), try.first.ID, nil)
		return err
	},
	"cut from the network": func(try *try) error { try.gate.cut(); return nil },
	"killed":               func(try *try) error { return try.runners[0].signal(syscall.SIGKILL) },
	"killed with its keeper": func(try *try) error {
		return errors.Join(try.runners[0].signal(syscall.SIGKILL), try.signalKeeper(syscall.SIGKILL))
	},
	"frozen": func(try *try) error { return try.runners[0].signal(syscall.SIGSTOP) },
	"frozen with its keeper": func(try *try) error {
		return errors.Join(try.runners[0].signal(syscall.SIGSTOP), try.signalKeeper(syscall.SIGSTOP))
	},
	// Nothing is wrong with the program, until it is to be stopped. Its runner can start no other, and is to claim none.
	diskFull: func(try *try) error {
		if err := errors.Join(try.fill(), try.runners[0].signal(syscall.SIGTERM)); err != nil {
			return err
		}
		if try.back {
			try.gate.cut()
			return nil
		}
		_, err := try.w.Deploy.Execution.Cancel(try.w.Acme.As(actor.Developer), try.first.ID, nil)
		return err
	},
	// Back the lease must end all the same; forward the program ends early.
	"its clock jumped": func(try *try) error {
		if try.back {
			try.gate.cut()
			return try.jump(-time.Hour)
		}
		return try.jump(time.Hour)
	},
}

// diskFull is the trouble for which the work folder is on a small disk of its own.
const diskFull = "its disk full"

// atOnce is how many tries run at the same time.
const atOnce = 10

func TestOverlapOfTwoProgramsOfOneInstanceNeverHappens(t *testing.T) {
	t.Parallel()
	chance, begun := seeded(t), time.Now()
	tries := slices.Concat(plan(troubles, testkit.Often(1, 50)), plan(victimTroubles(), testkit.Often(1, 20)))
	results := map[string]*result{}
	for chunk := range slices.Chunk(tries, atOnce) {
		// A subtest, after which its servers and folders are gone.
		t.Run(fmt.Sprintf("%s and %d more", chunk[0].name, len(chunk)-1), func(t *testing.T) {
			var all sync.WaitGroup
			for _, one := range chunk {
				one.prepare(t, chance)
			}
			for _, one := range chunk {
				all.Go(func() { one.run(t) })
			}
			all.Wait()
			for _, one := range chunk {
				one.count(t, results)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(results)) { //nolint:paralleltest // they only say what was found
		t.Run(name, func(t *testing.T) {
			if r := results[name]; r.overlaps > 0 {
				t.Errorf("in %d of %d tries two programs ran, for %s", r.overlaps, r.tries, r.total)
			}
			proved.note(t, begun, "%d tries: two programs of one instance ran for %s", results[name].tries, results[name].total)
		})
	}
}

// plan returns so many tries of each trouble, with the first runner back in every other of them.
func plan(troubles map[string]func(*try) error, n int) (tries []*try) {
	for i, name := range slices.Sorted(maps.Keys(troubles)) {
		for round := range n {
			isBack := (i+round)%2 == 0
			tries = append(tries, &try{name: name, trouble: troubles[name], round: round, back: isBack, linger: -1})
		}
	}
	return tries
}

// result is what the tries of a trouble came to: how many there were, in how many two programs ran, and for how long.
type result struct {
	tries, overlaps int
	total           time.Duration
}

// try is one instance with two runners, the first of which meets trouble.
type try struct {
	name    string
	trouble func(*try) error
	// round is how many tries of the trouble come before.
	round   int
	w       *worldtest.World
	place   *worldtest.Fixture
	first   *ent.Deployment
	gate    *gate
	runners []*runnerProcess
	folder  string
	back    bool
	// fill takes all room of the first runner's work folder.
	fill func() error
	// linger is how long a program goes on after SIGTERM; it does not end by itself if it is negative.
	linger time.Duration
	// frozen has the ids of processes that were frozen besides.
	frozen []int
}

// prepare starts a server and the first runner.
func (try *try) prepare(t *testing.T, chance *rand.Rand) {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.Execution.LeaseTime, w.Deploy.Execution.CancelTimeout = 6*time.Second, time.Second
	if err := w.NoteSweep(store.Now(), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	go w.RunHousekeeping(ctx, slog.New(slog.DiscardHandler))
	try.w, try.place, try.gate, try.folder = w, w.Fixture(t, w.Acme, "web"), newGate(t, w.URL), t.TempDir()
	if chance.IntN(2) == 0 {
		try.linger = time.Duration(chance.Int64N(int64(400 * time.Millisecond)))
	}
	try.first = try.place.Deploy(t, try.place.Instance.ID, `{"image":"web:1"}`)
	workDir := filepath.Join(try.folder, "runner-0")
	if try.name == diskFull {
		if folder, fill, ok := testkit.SmallDisk(t, 1); ok {
			workDir, try.fill = folder, func() error { fill(); return nil }
		} else {
			try.fill = try.writeNothing
		}
	}
	try.launch(t, try.gate.url, workDir)
}

// process returns the ids of the first program's keeper and of its runner.
func (try *try) process() (keeperID, runnerID int, err error) {
	var ids struct{ Keeper int }
	text, err := os.ReadFile(filepath.Join(try.runners[0].order.WorkDir, ".keepers", try.first.ID, "process.json"))
	if err == nil {
		err = json.Unmarshal(text, &ids)
	}
	return ids.Keeper, try.runners[0].cmd.Process.Pid, err
}

func (try *try) signalKeeper(s syscall.Signal) error {
	id, _, err := try.process()
	if err != nil {
		return err
	}
	return syscall.Kill(id, s)
}

// launch starts one more runner, each with a folder of its own.
func (try *try) launch(t *testing.T, url, folder string) {
	t.Helper()
	try.runners = append(try.runners, startRunner(t, runnerOrder{
		Server: url, Token: try.w.Acme.Tokens[actor.Runner], WorkDir: folder, ClockFile: folder + ".clock",
		Program: programOrder{Folder: try.folder, Linger: try.linger},
	}))
}

func (try *try) jump(by time.Duration) error {
	return os.WriteFile(try.runners[0].order.ClockFile, []byte(by.String()), 0o600)
}

// run makes trouble as the first program runs, and deploys again as soon as that is allowed.
func (try *try) run(t *testing.T) {
	if !testkit.Eventually(t, try.name+": the first program runs", func() bool { return there(try.folder, "began-"+try.first.ID) }) {
		return
	}
	try.launch(t, try.w.URL, filepath.Join(try.folder, "runner-1"))
	if err := try.trouble(try); err != nil {
		t.Errorf("%s: %v", try.name, err)
	}
	var second *ent.Deployment
	testkit.Eventually(t, try.name+": the instance is free", func() bool {
		// To read the first costs a fraction of a creation that is refused.
		first, err := try.w.Store.Client.Deployment.Get(try.w.Acme.As(actor.Viewer), try.first.ID)
		if err != nil || first.CompletedAt == nil {
			return false
		}
		second, _, err = try.w.Deploy.Propose.Create(try.w.Acme.As(actor.Developer), propose.New{
			InstanceID: try.place.Instance.ID, VersionID: try.place.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:2"}`),
			Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data),
		})
		if err != nil && !fault.Is(err, fault.DeploymentInProgress) {
			t.Error(err)
		}
		return err == nil
	})
	if second == nil || !testkit.Eventually(t, try.name+": the second program runs", func() bool { return there(try.folder, "began-"+second.ID) }) {
		return
	}
	// Who was frozen goes on beside it.
	_, _ = try.runners[0].signal(syscall.SIGCONT), try.signalKeeper(syscall.SIGCONT)
	for _, id := range try.frozen {
		_ = syscall.Kill(id, syscall.SIGCONT)
	}
	if err := os.WriteFile(filepath.Join(try.folder, "finish-"+second.ID), nil, 0o600); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, try.name+": the second succeeds", func() bool {
		d, err := try.w.Store.Client.Deployment.Get(try.w.Acme.As(actor.Viewer), second.ID)
		return err == nil && d.Status == "SUCCEEDED"
	})
	for _, r := range try.runners {
		r.end()
	}
}

// there reports whether a file is in a folder.
func there(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// count adds how often a program found another running, and for how long both ran.
func (try *try) count(t *testing.T, results map[string]*result) {
	t.Helper()
	if results[try.name] == nil {
		results[try.name] = &result{}
	}
	r := results[try.name]
	r.tries++
	text, err := os.ReadFile(filepath.Join(try.folder, overlapsFile))
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		d, err := time.ParseDuration(strings.TrimSpace(line))
		if err != nil {
			t.Error(err)
		}
		r.overlaps, r.total = r.overlaps+1, r.total+d
	}
}
