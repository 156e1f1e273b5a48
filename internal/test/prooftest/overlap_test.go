package prooftest_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/deployment"
	"slipway/internal/fault"
	"slipway/internal/store"
	"slipway/internal/strictjson"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// troubles are what may happen to a runner as its program runs.
var troubles = map[string]func(try *try) error{
	"canceled": func(try *try) error {
		_, err := try.w.Deploy.Cancel(try.w.Acme.As(actor.Developer), try.first.ID)
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
		_, err := try.w.Deploy.Cancel(try.w.Acme.As(actor.Developer), try.first.ID)
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
	chance := seeded(t)
	for name, trouble := range troubles { //nolint:paralleltest // each has ten tries at once by itself
		t.Run(name, func(t *testing.T) {
			begun, n := time.Now(), size(2, 50)
			overlaps, total := 0, time.Duration(0)
			for left := n; left > 0; left -= atOnce {
				batch := make([]*try, min(left, atOnce))
				var all sync.WaitGroup
				for i := range batch {
					batch[i] = newTry(t, chance, i%2 == 0, name == diskFull)
				}
				for _, one := range batch {
					all.Go(func() { one.run(t, trouble) })
				}
				all.Wait()
				for _, one := range batch {
					o, d := one.overlaps(t)
					overlaps, total = overlaps+o, total+d
				}
			}
			if overlaps > 0 {
				t.Errorf("in %d of %d tries two programs ran, for %s", overlaps, n, total)
			}
			proved.note(t, begun, "%d tries: two programs of one instance ran for %s", n, total)
		})
	}
}

// try is one instance with two runners, the first of which meets trouble.
type try struct {
	w       *worldtest.World
	place   *worldtest.Fixture
	first   *ent.Deployment
	gate    *gate
	runners []*runnerProcess
	folder  string
	back    bool
	// fill takes all room of the first runner's work folder.
	fill func() error
	// linger is how long a program goes on after SIGTERM; it does not end by itself where it is negative.
	linger time.Duration
}

func newTry(t *testing.T, chance *rand.Rand, back, smallDisk bool) *try {
	t.Helper()
	w := worldtest.New(t, worldtest.SQLite(t))
	w.Deploy.LeaseTime, w.Deploy.CancelTimeout = 6*time.Second, time.Second
	if err := w.NoteSweep(store.Now(), time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	go w.RunHousekeeping(ctx, slog.New(slog.DiscardHandler))
	try := &try{w: w, place: w.Fixture(t, w.Acme, "web"), gate: newGate(t, w.URL), folder: t.TempDir(), back: back, linger: -1}
	if chance.IntN(2) == 0 {
		try.linger = time.Duration(chance.Int64N(int64(400 * time.Millisecond)))
	}
	try.first = try.place.Deploy(t, try.place.Instance.ID, `{"image":"web:1"}`)
	workDir := filepath.Join(try.folder, "runner-0")
	if smallDisk {
		if folder, fill, ok := testkit.SmallDisk(t, 1); ok {
			workDir, try.fill = folder, func() error { fill(); return nil }
		} else {
			try.fill = try.writeNothing
		}
	}
	try.launch(t, try.gate.url, workDir)
	return try
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
func (try *try) run(t *testing.T, trouble func(*try) error) {
	if !testkit.Eventually(t, "the first program runs", func() bool { return there(try.folder, "began-"+try.first.ID) }) {
		return
	}
	try.launch(t, try.w.URL, filepath.Join(try.folder, "runner-1"))
	if err := trouble(try); err != nil {
		t.Error(err)
	}
	var second *ent.Deployment
	testkit.Eventually(t, "the instance is free", func() bool {
		var err error
		second, err = try.w.Deploy.Create(try.w.Acme.As(actor.Developer), deployment.New{
			InstanceID: try.place.Instance.ID, VersionID: try.place.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:2"}`),
			Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data),
		})
		if err != nil && !fault.Is(err, fault.DeploymentInProgress) {
			t.Error(err)
		}
		return err == nil
	})
	if second == nil || !testkit.Eventually(t, "the second program runs", func() bool { return there(try.folder, "began-"+second.ID) }) {
		return
	}
	// Who was frozen goes on beside it.
	_, _ = try.runners[0].signal(syscall.SIGCONT), try.signalKeeper(syscall.SIGCONT)
	if err := os.WriteFile(filepath.Join(try.folder, "finish-"+second.ID), nil, 0o600); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, "the second succeeds", func() bool {
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

// overlaps returns how often a program found another running, and for how long both ran.
func (try *try) overlaps(t *testing.T) (n int, total time.Duration) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(try.folder, overlapsFile))
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		d, err := time.ParseDuration(strings.TrimSpace(line))
		if err != nil {
			t.Error(err)
		}
		n, total = n+1, total+d
	}
	return n, total
}
