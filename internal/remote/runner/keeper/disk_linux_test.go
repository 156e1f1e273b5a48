package keeper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
)

// fullDisk returns a world whose keepers have little room, and takes the rest of it from one.
func fullDisk(t *testing.T) (w *world, fill func()) {
	t.Helper()
	w = newWorld(t)
	folder, fill, ok := testkit.SmallDisk(t, 1)
	if !ok { // this one writes no file any more
		return w, func() {
			none := unix.Rlimit{}
			if err := unix.Prlimit(w.ids(t).Keeper, unix.RLIMIT_FSIZE, &none, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.root = filepath.Join(folder, "keepers")
	return w, fill
}

func TestFullDiskStopsNoProgramAndHidesNoEnd(t *testing.T) {
	t.Parallel()
	w, fill := fullDisk(t)
	const n = 2000
	k, gone := w.start(t, fmt.Sprintf(`echo started; until [ -e proceed ]; do sleep 0.05; done; seq %d; echo why >&2; exit 7`, n), w.lease(time.Hour), time.Second)
	_, from := lines(t, k, 0, 1)
	fill()
	renewed := w.lease(10 * time.Hour)
	if err := k.Renew(renewed); err != nil {
		t.Fatal(err)
	}
	if err := k.SaveNote("how far"); err != nil {
		t.Error(err)
	}
	w.jump(t, shift{Wall: 2 * time.Hour, Boot: 2 * time.Hour})
	k = w.adopt(t, k)
	if got := k.Lease(); got.ID != renewed.ID || got.End.Boot != renewed.End.Boot {
		t.Errorf("who adopts has the lease %+v, want %+v", got, renewed)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "proceed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.MustEnd(t, gone)
	for range 3 { // whoever comes is told
		said, _ := lines(t, k, from, -1)
		got := end(t, k)
		if got.ExitCode != 7 || got.Stopped != "" || got.Stderr != "why" || got.Lost == 0 {
			t.Errorf("%+v", got)
		}
		if len(said)+got.Lost < n || len(said)+got.Lost > n+1 { // one is of standard error
			t.Errorf("%d lines were read and %d lost", len(said), got.Lost)
		}
		var note string
		if ok, err := k.LoadNote(&note); !ok || err != nil || note != "how far" {
			t.Errorf("%t, %v, the note is %q", ok, err, note)
		}
		k = w.adopt(t, k)
	}
	id := w.ids(t).Keeper
	if err := k.Remove(); err != nil {
		t.Error(err)
	}
	testkit.Eventually(t, "the keeper has ended", func() bool { return syscall.Kill(id, 0) != nil })
}

func TestStopNeedsNoDisk(t *testing.T) {
	t.Parallel()
	w, fill := fullDisk(t)
	k, gone := w.start(t, `echo started; sleep 600`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	fill()
	if err := k.Stop(keeper.Canceled, w.clock().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	testkit.MustEnd(t, gone)
	if got := end(t, k); got.Stopped != keeper.Canceled || got.Signal != syscall.SIGTERM {
		t.Errorf("%+v", got)
	}
}

// The end is stored once there is room for it, so that it outlives the keeper.
func TestEndIsStoredWhenThereIsRoomAgain(t *testing.T) {
	t.Parallel()
	w, fill := fullDisk(t)
	k, gone := w.start(t, `echo started; until [ -e proceed ]; do sleep 0.05; done; exit 7`, w.lease(time.Hour), time.Hour)
	lines(t, k, 0, 1)
	fill()
	if err := os.WriteFile(filepath.Join(w.dir, "proceed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.MustEnd(t, gone)
	end(t, k)
	id := w.ids(t).Keeper
	if err := os.Remove(filepath.Join(filepath.Dir(w.root), "full")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	_ = unix.Prlimit(id, unix.RLIMIT_FSIZE, &unlimited, nil) // where that was the bound
	testkit.Eventually(t, "the end is stored", func() bool {
		_, err := os.Stat(filepath.Join(w.root, "program", "end.json"))
		return err == nil
	})
	if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the keeper has ended", func() bool { return syscall.Kill(id, 0) != nil })
	if got := end(t, w.adopt(t, k)); got.ExitCode != 7 || got.Stopped != "" {
		t.Errorf("%+v", got)
	}
}

// The address of a socket has room for some hundred bytes.
func TestFolderMayBeDeep(t *testing.T) {
	t.Parallel()
	for _, length := range []int{103, 107, 108, 109, 1000, 3500} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for socket := func() int { return len(filepath.Join(w.root, "program", "keeper.sock")) }; socket() < length; {
				w.root = filepath.Join(w.root, strings.Repeat("d", min(200, max(1, length-socket()-1))))
			}
			k, gone := w.start(t, `echo started; until [ -e proceed ]; do sleep 0.05; done`, w.lease(time.Hour), time.Hour)
			lines(t, k, 0, 1)
			if err := k.Renew(w.lease(10 * time.Hour)); err != nil {
				t.Error(err)
			}
			if k = w.adopt(t, k); k.Lease().Length != 10*time.Hour {
				t.Errorf("%+v", k.Lease())
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
