package runner_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"slipway/internal/test/testkit"
)

// The work folder has no room for a renewal, an end, a note or a line. The program goes on for longer than its first
// lease, its runner is replaced, and of the lines none is doubled, and those that are missing are counted.
func TestFullDiskLosesLinesAndNothingElse(t *testing.T) {
	t.Parallel()
	const n = 4000
	s := newStage(t, fmt.Sprintf(`echo started; until [ -e "$STEPS/1" ]; do sleep 0.02; done; for i in $(seq %d); do echo "line $i"; done
touch "$STEPS/away"; until [ -e "$STEPS/2" ]; do sleep 0.02; done; touch "$STEPS/ended"`, n))
	s.w.Deploy.Execution.LeaseTime = 6 * time.Second
	between := newProxy(t, s.w.URL, always(none))
	s.c.Server = between.url
	folder, fill, ok := testkit.SmallDisk(t, 1)
	if ok {
		s.c.WorkDir = folder
	}
	first := launch(t, s.w, s.c)
	says(t, s.w, s.id, "started")
	if ok {
		fill()
	} else {
		writeNothing(t, first.Process.Pid, keeperOf(t, s.c, s.id))
	}
	renewed := between.count("renewLease")
	until(t, "it is renewed again and again", func() bool { return between.count("renewLease") > renewed+3 })
	_ = first.end(syscall.SIGKILL)
	start(t, s.c)
	s.tell(t, "1")
	s.await(t, "away")
	s.tell(t, "2")
	until(t, "it is completed", func() bool { return read(t, s.w, s.id).CompletedAt != nil })
	if got := read(t, s.w, s.id); got.Status != "SUCCEEDED" {
		t.Errorf("%s %+v", got.Status, got.Error)
	}
	said := logs(t, s.w, s.id)
	lost, seen := 0, map[string]bool{}
	if _, err := fmt.Sscanf(said[len(said)-1], "%d lines of the program's output are lost.", &lost); err != nil || lost == 0 {
		t.Errorf("the log ends with %q", said[len(said)-1])
	}
	for _, line := range said[:len(said)-1] {
		if seen[line] || line != "started" && !strings.HasPrefix(line, "line ") {
			t.Errorf("%q, twice: %t", line, seen[line])
		}
		seen[line] = true
	}
	if len(seen)+lost != n+1 {
		t.Errorf("%d lines are there and %d lost, want %d", len(seen), lost, n+1)
	}
}

// writeNothing lets processes write no file any more.
func writeNothing(t *testing.T, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if err := unix.Prlimit(id, unix.RLIMIT_FSIZE, &unix.Rlimit{}, nil); err != nil {
			t.Fatal(err)
		}
	}
}
