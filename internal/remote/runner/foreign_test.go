package runner_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/remote/runner/keeper"
	"slipway/internal/service/account"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// Another runner shares the work folder of one that is killed.
func TestProgramOfAnotherRunnerIsNotStopped(t *testing.T) {
	t.Parallel()
	carriesOut := func(t *testing.T, s *stage, place *worldtest.Fixture) {
		t.Helper()
		d := place.Deploy(t, place.Instance.ID, `{"image":"web:1"}`)
		until(t, "the other carries its own out", func() bool { return read(t, s.w, d.ID).CompletedAt != nil })
	}
	for name, test := range map[string]struct {
		// other is what the other runner has in the place of the first's.
		other func(t *testing.T, s *stage, place *worldtest.Fixture) (server, token string)
		// says is what the other logs.
		says string
		// work is what it does meanwhile.
		work func(t *testing.T, s *stage, place *worldtest.Fixture)
	}{
		"of another organization": {func(_ *testing.T, s *stage, _ *worldtest.Fixture) (server, token string) {
			return s.w.URL, s.w.Globex.Tokens[actor.Runner]
		}, "are left alone", func(*testing.T, *stage, *worldtest.Fixture) {}},
		// Which has the same organization, as a copy of a database has.
		"of another server": {func(t *testing.T, s *stage, _ *worldtest.Fixture) (server, token string) {
			return newProxy(t, s.w.URL, always(none)).url, s.w.Acme.Tokens[actor.Runner]
		}, "are left alone", carriesOut},
		"with a token for another project": {func(t *testing.T, s *stage, place *worldtest.Fixture) (server, token string) {
			return s.w.URL, s.w.Token(t, s.w.Acme, account.NewToken{
				Name: "scoped", Role: actor.Runner, Scope: &actor.Scope{Projects: []string{place.Project.ID}},
			})
		}, "left to the next runner", carriesOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stepwise)
			s.w.Deploy.Execution.LeaseTime = 9 * time.Second // a renewal is soon
			first := launch(t, s.w, s.c)
			says(t, s.w, s.id, "started")
			c, log, place := s.c, &testkit.Log{}, s.w.Fixture(t, s.w.Acme, "other")
			c.Server, c.Token = test.other(t, s, place)
			c.Log, c.Command = slog.New(slog.NewTextHandler(log, nil)), "echo done"
			start(t, c)
			_ = first.end(syscall.SIGKILL)
			until(t, "the other leaves it", func() bool { return strings.Contains(log.String(), test.says) })
			for range 3 { // it looks again meanwhile
				test.work(t, s, place)
			}
			start(t, s.c)
			s.tell(t, "1")
			s.await(t, "away")
			s.tell(t, "2")
			s.allSaid(t)
			if n := strings.Count(log.String(), test.says); n != 1 {
				t.Errorf("it has left it %d times", n)
			}
		})
	}
}

func TestOnlyTheLossOfTheLeaseStopsAProgram(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"renewLease", "reportDeployment"} {
		for code, stopped := range map[fault.Code]bool{
			fault.DeploymentLeaseLost:    true,
			fault.DeploymentNotFound:     false,
			fault.DeploymentForbidden:    false,
			fault.RequestUnauthenticated: false,
			fault.RequestNotFound:        false,
			fault.RequestInvalid:         false,
		} {
			t.Run(operation+" "+string(code), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, `exec 4>"$ALIVE"; trap 'touch "$STEPS/told"; exit 9' TERM; echo started
until [ -e "$STEPS/1" ]; do echo more; sleep 0.05; done; touch "$STEPS/ended"`)
				s.w.Deploy.Execution.LeaseTime = 20 * time.Second
				pipe, gone := testkit.Lifeline(t)
				between := newProxy(t, s.w.URL, always(none))
				between.refusal = code
				s.c.Server, s.c.StopGrace, s.c.Environ = between.url, time.Second, append(s.c.Environ, "ALIVE="+pipe)
				first := launch(t, s.w, s.c)
				says(t, s.w, s.id, "started")
				asked := between.count(operation)
				between.set(s.w.URL, func(of string, _ int) trouble {
					if of == operation {
						return refused
					}
					return none
				})
				until(t, "it is refused", func() bool { return between.count(operation) > asked })
				if stopped {
					testkit.MustEnd(t, gone)
					s.await(t, "told")
					return
				}
				s.tell(t, "1")
				testkit.MustEnd(t, gone)
				s.await(t, "ended")
				if there(s.folder, "told") {
					t.Error("the program was stopped")
				}
				_ = first.end(syscall.SIGKILL)
				between.set(s.w.URL, always(none))
				start(t, s.c)
				until(t, "it is completed", func() bool { return read(t, s.w, s.id).CompletedAt != nil })
				if got := read(t, s.w, s.id); got.Status != "SUCCEEDED" {
					t.Errorf("%s %+v", got.Status, got.Error)
				}
			})
		}
	}
}

func there(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// A report that conflicts with what others have reported is one of the program's mistakes.
func TestReportThatConflictsBecomesAnEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t, `echo '{"report": {"resourceName": "taken"}}'; echo after`)
	between := newProxy(t, s.w.URL, always(none))
	between.refusal, between.refused = fault.DeploymentInProgress, `"resourceName":"taken"`
	s.c.Server = between.url
	once(t, s.c)
	if got := read(t, s.w, s.id); got.Status != "SUCCEEDED" {
		t.Errorf("%s %+v", got.Status, got.Error)
	}
	if said := strings.Join(logs(t, s.w, s.id), ","); said != "after" {
		t.Errorf("says %s", said)
	}
	if events := strings.Join(messages(t, s.w, s.id), ","); !strings.HasPrefix(events, "The server refused what the program reported: refused") {
		t.Errorf("%s", events)
	}
}

// Keepers of versions without sockets have their orders in a file, and runners of these versions look for that.
func TestRunnersOfDifferentVersionsLeaveEachOthersProgramsAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, stepwise)
	before := filepath.Join(s.c.WorkDir, ".keepers", "dep_before")
	if err := os.MkdirAll(before, 0o700); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"orders.json":  `{"lease":{"id":"lease_1","end":{"boot":1,"wall":"2026-01-01T00:00:00Z"},"length":60000000000}}`,
		"about.json":   `{"deploymentId":"dep_before","instanceId":"inst_before"}`,
		"process.json": `{"keeper":1,"group":1,"dir":"/"}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(before, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := launch(t, s.w, s.c)
	says(t, s.w, s.id, "started")
	text, err := os.ReadFile(filepath.Join(s.c.WorkDir, ".keepers", s.id, "orders.json"))
	if err != nil {
		t.Fatal(err)
	}
	var orders struct{ Lease keeper.Lease }
	if err := json.Unmarshal(text, &orders); err == nil {
		t.Errorf("a runner of before reads the lease %+v", orders.Lease)
	}
	_ = first.end(syscall.SIGKILL)
	start(t, s.c)
	s.tell(t, "1")
	s.tell(t, "2")
	until(t, "it is completed", func() bool { return read(t, s.w, s.id).CompletedAt != nil })
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(before, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v, %s", name, err, got)
		}
	}
}
