package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// A process that a shell starts in the background ignores SIGINT at first.
func TestTerraformThatIsCanceledAsItStartsIsInterruptedAllTheSame(t *testing.T) {
	t.Parallel()
	w, counts := worldtest.New(t, worldtest.SQLite(t)), t.TempDir()
	w.Deploy.Execution.LeaseTime = 6 * time.Second
	m := newModule(t, w, new("https://git.example/greeting.git"))
	c := moduleConfig(t, w, greetingModule)
	c.Environ = ownTerraform(t, c.Environ, counts)
	touchIn(t, counts, "hold")
	start(t, c)
	d := m.deploy(t, "good morning")
	until(t, "Terraform starts", func() bool { return !exists(counts, "hold") })
	script := groupOf(t, c, d.ID)
	if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the script is told", func() bool { return ignores(t, script, syscall.SIGTERM) })
	touchIn(t, counts, "proceed")
	until(t, "it is canceled", func() bool { return read(t, w, d.ID).Status == "CANCELED" })
	if got := testkit.CountedSignals(t, counts, testkit.CounterLeader); !slices.Equal(got, []string{"interrupt"}) {
		t.Errorf("Terraform got %q", got)
	}
}

func touchIn(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

var ignored = regexp.MustCompile(`SigIgn:\s+([0-9a-f]+)`)

// ignores reports whether a process ignores a signal.
func ignores(t *testing.T, id int, s syscall.Signal) bool {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
	found := ignored.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("%v, %s", err, text)
	}
	mask, err := strconv.ParseUint(string(found[1]), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask&(1<<(s-1)) != 0
}
