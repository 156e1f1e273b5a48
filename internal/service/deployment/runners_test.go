package deployment_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/service/account"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

var (
	ecsType, terraformType = "aws:ecs", "terraform"
	apply, destroys        = state.Apply, state.DestroyAction
)

// runnerToken returns a context of a new runner of the organization, in a scope that may be nil.
func runnerToken(t testing.TB, w *worldtest.World, o *worldtest.Org, name string, scope *actor.Scope) context.Context {
	t.Helper()
	made := actor.With(context.Background(), &actor.Actor{Name: "cli", Role: actor.System, OrganizationID: o.ID, Channel: actor.CLI})
	_, secret, err := w.Accounts.CreateToken(made, account.NewToken{Name: name, Role: actor.Runner, Scope: scope})
	if err != nil {
		t.Fatal(err)
	}
	return asToken(t, w, o, secret)
}

// asks asks for work as a runner and stores that; it returns the deployment that it gets, "" for none.
func asks(ctx context.Context, t testing.TB, w *worldtest.World, types []string, actions ...state.Action) string {
	t.Helper()
	d, _, err := w.Deploy.Execution.Claim(ctx, execution.Claim{Kinds: types, Actions: actions})
	if err != nil {
		t.Fatal(err)
	}
	w.Deploy.Runners.StoreAsks(t.Context())
	if d == nil {
		return ""
	}
	return d.ID
}

// listed returns the runners that a caller sees, each as a line.
func runnersFound(ctx context.Context, t testing.TB, w *worldtest.World, f runners.Filter) (list []string) {
	t.Helper()
	c, err := w.Deploy.Runners.List(ctx, f, page.Args{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Nodes() {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s %d", r.Name(), strings.Join(r.DeploymentTypes, ","), r.Actions, r.Running)))
	}
	return list
}

func wantListed(t testing.TB, name string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want (-), found (+):\n%s", name, diff)
	}
}

func TestARunnerIsKnownForTenMinutesOrWhileItRuns(t *testing.T) {
	t.Parallel()
	eachIsolation(t, func(t *testing.T, w *worldtest.World) {
		clock, viewer := clockOf(w), w.Acme.As(actor.Viewer)
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		one, two := runnerToken(t, w, w.Acme, "one", nil), runnerToken(t, w, w.Acme, "two", nil)
		wantListed(t, "before any asks", runnersFound(viewer, t, w, runners.Filter{}))

		if got := asks(one, t, w, []string{ecsType}, apply, destroys); got != d.ID {
			t.Fatalf("claimed %q", got)
		}
		asks(two, t, w, []string{terraformType, ecsType})
		asks(runnerToken(t, w, w.Globex, "theirs", nil), t, w, []string{ecsType})
		wantListed(t, "all ask", runnersFound(viewer, t, w, runners.Filter{}), "two aws:ecs,terraform [APPLY] 0", "one aws:ecs [APPLY DESTROY] 1")

		clock.Advance(10 * time.Minute)
		wantListed(t, "ten minutes later", runnersFound(viewer, t, w, runners.Filter{}), "two aws:ecs,terraform [APPLY] 0", "one aws:ecs [APPLY DESTROY] 1")
		clock.Advance(time.Millisecond)
		wantListed(t, "after that", runnersFound(viewer, t, w, runners.Filter{}), "one aws:ecs [APPLY DESTROY] 1")
	})
}

func TestARunnerIsFilteredByWhatItAsksForTogetherAndWhereItMayRun(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		viewer := w.Acme.As(actor.Viewer)
		p, other := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "api")
		asks(runnerToken(t, w, w.Acme, "anywhere", nil), t, w, []string{ecsType}, apply)
		asks(runnerToken(t, w, w.Acme, "here", &actor.Scope{Environments: []string{p.Environment.ID}}), t, w, []string{ecsType}, destroys)
		asks(runnerToken(t, w, w.Acme, "there", &actor.Scope{Projects: []string{other.Project.ID}}), t, w, []string{terraformType}, destroys)
		for name, c := range map[string]struct {
			filter runners.Filter
			want   string
		}{
			"none":                {runners.Filter{}, "there here anywhere"},
			"a type":              {runners.Filter{DeploymentType: &ecsType}, "here anywhere"},
			"an action":           {runners.Filter{Action: &destroys}, "there here"},
			"both":                {runners.Filter{DeploymentType: &ecsType, Action: &destroys}, "here"},
			"an environment":      {runners.Filter{EnvironmentID: &p.Environment.ID}, "here anywhere"},
			"another environment": {runners.Filter{EnvironmentID: &other.Environment.ID}, "there anywhere"},
			"a type nobody asks":  {runners.Filter{DeploymentType: new("lambda")}, ""},
		} {
			var names []string
			for _, line := range runnersFound(viewer, t, w, c.filter) {
				names = append(names, strings.Fields(line)[0])
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
		if _, err := w.Deploy.Runners.List(w.Globex.As(actor.Viewer), runners.Filter{EnvironmentID: &p.Environment.ID}, page.Args{}); !fault.Is(err, fault.EnvironmentNotFound) {
			t.Errorf("another organization's environment: %v", err)
		}
	})
}

// TestARunnerIsWhatItLastAskedFor has a program that can do less than the one before.
func TestARunnerIsWhatItLastAskedFor(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, viewer, runner := clockOf(w), w.Acme.As(actor.Viewer), runnerToken(t, w, w.Acme, "one", nil)
		asks(runner, t, w, []string{ecsType, terraformType}, apply, destroys)
		clock.Advance(runners.KnownFor + time.Second)
		asks(runner, t, w, []string{ecsType}, apply)
		wantListed(t, "now", runnersFound(viewer, t, w, runners.Filter{}), "one aws:ecs [APPLY] 0")
	})
}

func TestATokenThatCannotClaimIsNoRunner(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		viewer := w.Acme.As(actor.Viewer)
		p := w.Fixture(t, w.Acme, "web")
		p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		runs, idle := runnerToken(t, w, w.Acme, "runs", nil), runnerToken(t, w, w.Acme, "idle", nil)
		asks(runs, t, w, []string{ecsType})
		asks(idle, t, w, []string{ecsType})
		for _, ctx := range []context.Context{runs, idle} {
			if _, err := w.Accounts.RevokeToken(w.Acme.As(actor.Admin), actor.From(ctx).ID); err != nil {
				t.Fatal(err)
			}
		}
		wantListed(t, "revoked", runnersFound(viewer, t, w, runners.Filter{}), "runs aws:ecs [APPLY] 1")
		wantListed(t, "revoked, by where they may run", runnersFound(viewer, t, w, runners.Filter{EnvironmentID: &p.Environment.ID}))
	})
}

// TestARunnerOfAnOlderServerIsWhatItRuns has a lease whose runner asked a server that stored no asks.
func TestARunnerOfAnOlderServerIsWhatItRuns(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		p.Claim(t, d)
		c, err := w.Deploy.Runners.List(w.Acme.As(actor.Viewer), runners.Filter{}, page.Args{})
		if err != nil || len(c.Edges) != 1 || c.Edges[0].Node.AskedAt != nil {
			t.Fatalf("%+v, %v", c, err)
		}
		wantListed(t, "it runs", runnersFound(w.Acme.As(actor.Viewer), t, w, runners.Filter{}), "runner aws:ecs [APPLY] 1")
	})
}

func TestAnAskIsStoredOnceInHalfAMinute(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		clock, runner := clockOf(w), runnerToken(t, w, w.Acme, "one", nil)
		claim := func() {
			if _, _, err := w.Deploy.Execution.Claim(runner, execution.Claim{Kinds: []string{ecsType, ecsType}}); err != nil {
				t.Fatal(err)
			}
		}
		stored := func() int {
			return len(slices.DeleteFunc(w.Statements(func() { w.Deploy.Runners.StoreAsks(t.Context()) }), func(text string) bool {
				return !strings.Contains(text, "runner_asks")
			}))
		}
		if ran := w.Statements(claim); strings.Contains(strings.Join(ran, "\n"), "runner_asks") {
			t.Errorf("a claim writes that it asks: %q", ran)
		}
		if n := stored(); n != 1 {
			t.Errorf("%d statements, want 1", n)
		}
		clock.Advance(30*time.Second - time.Millisecond)
		claim()
		if n := stored(); n != 0 {
			t.Errorf("%d statements within half a minute, want none", n)
		}
		clock.Advance(time.Millisecond)
		claim()
		if n := stored(); n != 1 {
			t.Errorf("%d statements after half a minute, want 1", n)
		}
		if rows := w.Store.Client.RunnerAsk.Query().AllX(w.Acme.As(actor.Viewer)); len(rows) != 1 || !rows[0].AskedAt.Equal(clock.Now()) {
			t.Errorf("%v", rows)
		}
	})
}

func TestAsksOfManyRunnersAreOneWriteOfEachOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for i := range 20 {
			for _, o := range []*worldtest.Org{w.Acme, w.Globex} {
				a := *actor.From(o.As(actor.Runner))
				a.ID = fmt.Sprintf("tok_%d", i)
				w.Deploy.Runners.Note(&a, []string{ecsType, terraformType}, []state.Action{apply, destroys})
			}
		}
		ran := w.Statements(func() { w.Deploy.Runners.StoreAsks(t.Context()) })
		if n := strings.Count(strings.Join(ran, "\n"), "INSERT"); n != 2 {
			t.Errorf("%d statements: %q", n, ran)
		}
		if n := w.Rows(t)["runner_asks"]; n != 160 {
			t.Errorf("%d rows, want 160", n)
		}
	})
}

// TestAsksAreBounded has more runners ask than a server remembers.
func TestAsksAreBounded(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		a := *actor.From(w.Acme.As(actor.Runner))
		for i := range 10_005 {
			a.ID = fmt.Sprintf("tok_%d", i)
			w.Deploy.Runners.Note(&a, []string{ecsType}, []state.Action{apply})
		}
		w.Deploy.Runners.StoreAsks(t.Context())
		if n := w.Rows(t)["runner_asks"]; n != 10_000 {
			t.Errorf("%d rows, want 10000", n)
		}
	})
}

func TestATypeThatThereIsNotIsNoAsk(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		for i := range 100 {
			_, _, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: []string{fmt.Sprint("kind", i)}})
			if !fault.Is(err, fault.RequestInvalid) {
				t.Fatal(err)
			}
		}
		w.Deploy.Runners.StoreAsks(t.Context())
		if n := w.Rows(t)["runner_asks"]; n != 0 {
			t.Errorf("%d rows, want none", n)
		}
	})
}

// TestAClaimGoesOnWithoutItsAsk has a database that takes no asks, of which the operator hears.
func TestAClaimGoesOnWithoutItsAsk(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		var log bytes.Buffer
		w.Deploy = w.Deploy.With(func(d *deployment.Deps) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		if asks(runnerToken(t, w, w.Acme, "one", nil), t, w, []string{ecsType}); log.Len() > 0 {
			t.Errorf("an ask that is stored is logged: %s", &log)
		}
		d := p.Deploy(t, p.Instance.ID, `{"image":"web:1"}`)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `DROP TABLE "runner_asks"`); err != nil {
			t.Fatal(err)
		}
		if got := asks(w.Acme.As(actor.Runner), t, w, []string{ecsType}); got != d.ID {
			t.Errorf("claimed %q, want %s", got, d.ID)
		}
		if !strings.Contains(log.String(), "cannot store that runners asked for work") {
			t.Errorf("logged %q", &log)
		}
	})
}

func TestAsksAreStoredWhileTheServerRunsAndWhenItStops(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		rows := func(n int) func() bool { return func() bool { return w.Rows(t)["runner_asks"] == n } }
		note := func(token string) {
			a := *actor.From(w.Acme.As(actor.Runner))
			a.ID = token
			w.Deploy.Runners.Note(&a, []string{ecsType}, []state.Action{apply})
		}
		note("tok_before")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var running sync.WaitGroup
		running.Go(func() { w.Deploy.Runners.Run(ctx) })
		testkit.Eventually(t, "an ask from before is stored", rows(1))
		note("tok_during")
		testkit.Eventually(t, "an ask is stored", rows(2))
		note("tok_last")
		stop()
		running.Wait()
		if !rows(3)() {
			t.Error("the last ask is not stored")
		}
	})
}
