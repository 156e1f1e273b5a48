package runner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/remote/runner/keeper"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

func TestEveryStopSignalsOnceAndOnlyThoseItIsMeantFor(t *testing.T) {
	t.Parallel()
	const term = "terminated"
	for _, of := range []struct {
		mode keeper.StopMode
		// child is what the program's child gets, after which it ends by itself unless it was killed.
		child []string
	}{
		{keeper.StopProgram, nil},
		{keeper.StopGroup, []string{term, "ended"}},
	} {
		for name, stop := range map[string]func(t *testing.T, w *worldtest.World, between *proxy, id string, shutDown func() error){
			"a cancellation": func(t *testing.T, w *worldtest.World, _ *proxy, id string, _ func() error) {
				if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), id, nil); err != nil {
					t.Fatal(err)
				}
			},
			"a shutdown": func(t *testing.T, _ *worldtest.World, _ *proxy, _ string, shutDown func() error) {
				if err := shutDown(); err != nil {
					t.Error(err)
				}
			},
			"the end of the lease": func(_ *testing.T, w *worldtest.World, between *proxy, _ string, _ func() error) {
				between.set(w.URL, always(lostRequest))
			},
		} {
			t.Run(strings.Join([]string{name, string(of.mode)}, ", "), func(t *testing.T) {
				t.Parallel()
				w, folder := worldtest.New(t, worldtest.SQLite(t)), t.TempDir()
				w.Deploy.Execution.LeaseTime = 6 * time.Second
				p := w.Fixture(t, w.Acme, "web")
				d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
				c, _ := config(t, w, testkit.SignalCounter(t, folder))
				between := newProxy(t, w.URL, always(none))
				c.Server, c.Stop, c.ShutdownTimeout = between.url, of.mode, 10*time.Millisecond
				shutDown := start(t, c)
				says(t, w, d.ID, "started")
				group := groupOf(t, c, d.ID)
				stop(t, w, between, d.ID, shutDown)
				until(t, "all have ended", func() bool { return !lives(group) })
				if got := testkit.CountedSignals(t, folder, testkit.CounterLeader); !slices.Equal(got, []string{term}) {
					t.Errorf("the program got %q", got)
				}
				if got := testkit.CountedSignals(t, folder, testkit.CounterChild); !slices.Equal(got, of.child) {
					t.Errorf("its child got %q, want %q", got, of.child)
				}
			})
		}
	}
}
