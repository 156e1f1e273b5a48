package deployment_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store/migrate"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/module"
	"slipway/internal/service/catalog"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/rule"
	"slipway/internal/test/pgtest/cluster"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// planned is a mutation, and its plan.
type plannedCall struct {
	plan func(context.Context, admission.Control) (*propose.Plan, error)
	make func(context.Context, admission.Control) (*ent.Deployment, error)
}

func creating(w *worldtest.World, in propose.New) plannedCall {
	return plannedCall{
		func(ctx context.Context, c admission.Control) (*propose.Plan, error) {
			in.Control = c
			return w.Deploy.Propose.PlanCreate(ctx, in)
		},
		func(ctx context.Context, c admission.Control) (*ent.Deployment, error) {
			in.Control = c
			return worldtest.Unwarned(w.Deploy.Propose.Create(ctx, in))
		},
	}
}

func replaying(w *worldtest.World, rolls bool, in propose.Replay) plannedCall {
	plan, replay := w.Deploy.Propose.PlanRedeploy, w.Deploy.Propose.Redeploy
	if rolls {
		plan, replay = w.Deploy.Propose.PlanRollback, w.Deploy.Propose.Rollback
	}
	return plannedCall{
		func(ctx context.Context, c admission.Control) (*propose.Plan, error) {
			in.Control = c
			return plan(ctx, in)
		},
		func(ctx context.Context, c admission.Control) (*ent.Deployment, error) {
			in.Control = c
			return worldtest.Unwarned(replay(ctx, in))
		},
	}
}

func promoting(w *worldtest.World, in propose.Promotion) plannedCall {
	return plannedCall{
		func(ctx context.Context, c admission.Control) (*propose.Plan, error) {
			in.Control = c
			return w.Deploy.Propose.PlanPromote(ctx, in)
		},
		func(ctx context.Context, c admission.Control) (*ent.Deployment, error) {
			in.Control = c
			return worldtest.Unwarned(w.Deploy.Propose.Promote(ctx, in))
		},
	}
}

func destroyingCall(w *worldtest.World, in propose.Destroy) plannedCall {
	return plannedCall{
		func(ctx context.Context, c admission.Control) (*propose.Plan, error) {
			in.Control = c
			return w.Deploy.Propose.PlanDestroy(ctx, in)
		},
		func(ctx context.Context, c admission.Control) (*ent.Deployment, error) {
			in.Control = c
			return worldtest.Unwarned(w.Deploy.Propose.Destroy(ctx, in))
		},
	}
}

// In states that are made at random, whatever a plan says is what is then done, and a plan changes nothing.
func TestAPlanIsWhatIsThenDone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		r := rand.New(rand.NewPCG(35, 1))
		callers := []context.Context{
			holder(t, w, w.Acme, actor.Viewer, "vic"), holder(t, w, w.Acme, actor.Developer, "dev"), holder(t, w, w.Acme, actor.Admin, "adm"),
		}
		p, staging := w.Fixture(t, w.Acme, "production"), w.Fixture(t, w.Acme, "staging")
		other, err := w.Catalog.CreateInstance(w.Acme.As(actor.Admin), catalog.NewInstance{EnvironmentID: staging.Environment.ID, DefinitionID: p.Definition.ID, Name: "promoted"})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for i := range testkit.Often(40, 2000) {
			stir(t, w, r, p, staging, other.ID)
			call := anyCall(t, w, r, p, other.ID)
			ctx, control := callers[min(r.IntN(8), 2)], admission.Control{}
			if r.IntN(4) == 0 {
				control.OverrideReason = new("it cannot wait for that")
			}
			before := w.Rows(t)
			plan, err := call.plan(ctx, control)
			if diff := cmp.Diff(before, w.Rows(t)); diff != "" {
				t.Fatalf("world %d: the plan wrote: %s", i, diff)
			}
			if err == nil && plan.Token != nil {
				control.ExpectedPlan = plan.Token
			}
			made, failed := call.make(ctx, control)
			want, got := outcomeOfPlan(plan, err), outcomeOf(made, failed)
			if want != got {
				t.Fatalf("world %d: planned %s, and got %s", i, want, got)
			}
			seen[strings.Fields(want)[0]]++
			if made != nil && plan.LiveID != nil && made.Status == entdeployment.StatusAWAITING_APPROVAL && *plan.LiveID != *made.ReplacesID {
				t.Errorf("world %d: planned against %s, waits against %s", i, *plan.LiveID, *made.ReplacesID)
			}
		}
		if seen["PENDING"] == 0 || seen["AWAITING_APPROVAL"] == 0 || len(seen) < 4 {
			t.Errorf("the worlds have little in them: %v", seen)
		}
	})
}

func outcomeOfPlan(p *propose.Plan, err error) string {
	switch {
	case err != nil:
		return outcomeOf(nil, err)
	case p.Refusal != nil:
		return outcomeOf(nil, p.Refusal)
	}
	return string(*p.Status)
}

func outcomeOf(d *ent.Deployment, err error) string {
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(d.Status)
}

// stir does something to a world: rules come and go, releases are quarantined, deployments end.
func stir(t *testing.T, w *worldtest.World, r *rand.Rand, p, staging *worldtest.Fixture, otherID string) {
	t.Helper()
	admin := w.Acme.As(actor.Admin)
	for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.StatusIn(entdeployment.StatusPENDING, entdeployment.StatusRUNNING)).Order(ent.Asc("id")).AllX(admin) {
		if r.IntN(4) == 0 {
			continue
		}
		claimed, lease, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes, Actions: []state.Action{state.Apply, state.DestroyAction}})
		if err != nil {
			t.Fatal(err)
		}
		if claimed == nil {
			w.Cancel(t, w.Acme, d.ID)
			continue
		}
		failure := broken
		if r.IntN(4) > 0 {
			failure = nil
		}
		if _, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), claimed.ID, lease.ID, execution.Completion{Failure: failure}); err != nil {
			t.Fatal(err)
		}
	}
	if r.IntN(3) == 0 {
		if _, _, err := w.Deploy.Propose.Create(admin, propose.New{InstanceID: otherID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(fmt.Sprintf(`{"image":"web:%d"}`, r.IntN(5))),
			Artifact: strictjson.MustParse(worldtest.Artifact)}); err != nil && fault.Status(err) >= 500 {
			t.Fatal(err)
		}
	}
	for _, rule := range w.Store.Client.Rule.Query().Order(ent.Asc("id")).AllX(admin) {
		if rule.EndedAt == nil && r.IntN(3) == 0 {
			if _, err := w.Rules.End(admin, rule.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.IntN(2) == 0 {
		demands := []gate.Demand{
			approvals(1), approvals(2), {Kind: &gate.Freeze{From: time.Now().Add(-time.Hour)}},
			{Kind: &gate.Hours{TimeZone: "Europe/Berlin", Spans: []gate.Span{{Days: gate.Weekdays, From: "00:00", To: "24:00"}}}},
			{Kind: &gate.LiveIn{EnvironmentIDs: []string{staging.Environment.ID}, Minutes: int32(r.IntN(2))}},
		}
		d := demands[r.IntN(len(demands))]
		operations := d.DefaultOperations()
		if _, ok := d.Kind.(*gate.LiveIn); !ok && r.IntN(3) == 0 {
			operations = append(operations, gate.Rollback)
		}
		demand(t, w, p, d, operations...)
	}
	if releases := w.Store.Client.Release.Query().Order(ent.Asc("id")).AllX(admin); len(releases) > 0 && r.IntN(4) == 0 {
		one := releases[r.IntN(len(releases))].ID
		if r.IntN(2) == 0 {
			_, _ = w.Deploy.Releases.UnquarantineRelease(admin, one) // which may be in none
		} else if _, err := w.Deploy.Releases.Quarantine(admin, one, "bad", nil); err != nil {
			t.Fatal(err)
		}
	}
}

// anyCall returns a mutation, and its plan.
func anyCall(t *testing.T, w *worldtest.World, r *rand.Rand, p *worldtest.Fixture, otherID string) plannedCall {
	t.Helper()
	admin := w.Acme.As(actor.Admin)
	var here, there []*ent.Deployment
	for _, d := range w.Store.Client.Deployment.Query().Order(ent.Asc("id")).AllX(admin) {
		switch d.ModuleInstanceID {
		case p.Instance.ID:
			here = append(here, d)
		case otherID:
			there = append(there, d)
		}
	}
	switch n := r.IntN(6); {
	case n == 0:
		return destroyingCall(w, propose.Destroy{InstanceID: p.Instance.ID})
	case n == 1 && len(there) > 0:
		return promoting(w, propose.Promotion{SourceID: there[r.IntN(len(there))].ID, InstanceID: p.Instance.ID})
	case n < 4 && len(here) > 0:
		return replaying(w, n == 2, propose.Replay{SourceID: here[r.IntN(len(here))].ID})
	case n == 4:
		in := newOf(w, p, "web:x")
		in.Inputs = strictjson.MustParse(`{"image":"web:1","replicas":99}`)
		return creating(w, in)
	}
	return creating(w, newOf(w, p, fmt.Sprintf("web:%d", r.IntN(5))))
}

// Each part of a token moves alone, and is named alone.
func TestAPlanThatMovedIsRefusedAndSaysWhat(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		admin, dev := w.Acme.As(actor.Admin), w.Acme.As(actor.Developer)
		first := p.Succeeded(t)
		token := func(c plannedCall) *string {
			plan, err := c.plan(admin, admission.Control{})
			if err != nil || plan.Token == nil {
				t.Fatalf("%+v, %v", plan, err)
			}
			return plan.Token
		}
		moved := func(part string, c plannedCall, token *string) {
			t.Helper()
			_, err := c.make(admin, admission.Control{ExpectedPlan: token})
			var f *fault.Error
			if !fault.Is(err, fault.DeploymentPlanMoved) {
				t.Fatalf("%s: %v", part, err)
			}
			f, _ = err.(*fault.Error) //nolint:errorlint // a service returns it as it is
			if got := fmt.Sprint(f.Metadata["moved"]); got != "["+part+"]" {
				t.Errorf("%s moved: %s", part, got)
			}
		}
		back := replaying(w, true, propose.Replay{SourceID: first.ID})

		other := replaying(w, true, propose.Replay{SourceID: first.ID, Request: admission.Request{ExpectedLiveID: &first.ID}})
		moved("request", back, token(other))

		planned := token(back)
		frozen := demand(t, w, p, gate.Demand{Kind: &gate.Freeze{From: time.Now().AddDate(1, 0, 0)}}, gate.Rollback)
		moved("rules", back, planned)

		planned = token(back)
		if _, _, err := w.Rules.Update(admin, frozen.ID, rule.Patch{Overridable: new(false)}); err != nil {
			t.Fatal(err)
		}
		moved("rules", back, planned)

		planned = token(back)
		if _, err := w.Rules.End(admin, frozen.ID, nil); err != nil {
			t.Fatal(err)
		}
		moved("rules", back, planned)

		planned = token(back)
		second := p.Finish(t, deploy(dev, t, w, p, "web:2"), nil)
		moved("live", back, planned)

		// What a promotion ships hangs on what the instance keeps of its own.
		staging := p.NewInstance(t, "staging").ID
		promote := promoting(w, propose.Promotion{SourceID: p.Finish(t, p.Deploy(t, staging, `{"image":"web:9"}`), nil).ID, InstanceID: p.Instance.ID})
		planned = token(promote)
		own := catalog.InstancePatch{OwnInputs: &[]string{"image"}}
		if _, err := w.Catalog.UpdateInstance(admin, p.Instance.ID, own); err != nil {
			t.Fatal(err)
		}
		moved("release", promote, planned)

		// What is referred to is deployed again, and has made the same.
		base := w.Fixture(t, w.Acme, "base")
		base.Succeeded(t)
		create := creating(w, propose.New{
			InstanceID: p.Instance.ID, VersionID: newVersion(t, w, p, "2.0.0", `[{"id":"of","type":"$ref:base","label":"Of"}]`).ID,
			Inputs: strictjson.MustParse(fmt.Sprintf(`{"of":%q}`, base.Instance.ID)), Artifact: strictjson.MustParse(worldtest.Artifact),
		})
		planned = token(create)
		base.Succeeded(t)
		moved("references", create, planned)

		destroy := destroyingCall(w, propose.Destroy{InstanceID: p.Instance.ID})
		planned = token(destroy)
		if _, err := w.Deploy.Releases.Quarantine(admin, *second.ReleaseID, "bad", nil); err != nil {
			t.Fatal(err)
		}
		moved("quarantine", destroy, planned)

		if _, err := create.make(admin, admission.Control{ExpectedPlan: token(create)}); err != nil {
			t.Errorf("what was planned: %v", err)
		}
	})
}

// A plan only reads: it draws no id of a transaction, of which there are only so many until old ones have to be frozen. The
// cluster is the test's own, so that nobody else draws one.
func TestAPlanDrawsNoTransactionID(t *testing.T) {
	t.Parallel()
	bin, err := cluster.Find(cluster.Packages)
	if errors.Is(err, cluster.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	own, err := cluster.StartInMemory(bin, "autovacuum=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := migrate.Up(t.Context(), own.URL); err != nil {
		t.Fatal(err)
	}
	w := worldtest.New(t, own.URL)
	p := w.Fixture(t, w.Acme, "web")
	first := p.Succeeded(t)
	p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
	staging := p.Finish(t, p.Deploy(t, p.NewInstance(t, "staging").ID, `{"image":"web:9"}`), nil)
	demand(t, w, p, approvals(1))
	next := func() (id int64) {
		t.Helper()
		if err := w.Raw(t, w.Acme).QueryRowContext(t.Context(), "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint)").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	calls := []plannedCall{
		creating(w, newOf(w, p, "web:3")), promoting(w, propose.Promotion{SourceID: staging.ID, InstanceID: p.Instance.ID}),
		replaying(w, false, propose.Replay{SourceID: first.ID}), replaying(w, true, propose.Replay{SourceID: first.ID}),
		destroyingCall(w, propose.Destroy{InstanceID: p.Instance.ID}),
	}
	// The change before is told of a moment later, which draws one. Plans that draw some do so each time.
	drawn, before := int64(1), int64(0)
	for tries := 0; drawn > 0 && tries < 20; tries++ {
		before = next()
		for _, call := range calls {
			if plan, err := call.plan(w.Acme.As(actor.Admin), admission.Control{}); err != nil || plan.Token == nil {
				t.Errorf("%+v, %v", plan, err)
			}
		}
		drawn = next() - before
	}
	if drawn > 0 {
		t.Errorf("five plans drew %d", drawn)
	}
	deploy(w.Acme.As(actor.Developer), t, w, p, "web:3")
	if next() == before {
		t.Error("a deployment drew none")
	}
}

// Who may only read is told all of a plan, and that the mutation would be refused.
func TestAViewersPlanShowsAllBesideTheRefusal(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		first := p.Succeeded(t)
		live := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:2"}`), nil)
		staging := p.Finish(t, p.Deploy(t, p.NewInstance(t, "staging").ID, `{"image":"web:9"}`), nil)
		demand(t, w, p, approvals(1), gate.Operations...)
		for name, call := range map[string]plannedCall{
			"create": creating(w, newOf(w, p, "web:3")), "promote": promoting(w, propose.Promotion{SourceID: staging.ID, InstanceID: p.Instance.ID}),
			"redeploy": replaying(w, false, propose.Replay{SourceID: first.ID}), "roll back": replaying(w, true, propose.Replay{SourceID: first.ID}),
			"destroy": destroyingCall(w, propose.Destroy{InstanceID: p.Instance.ID}),
		} {
			plan, err := call.plan(w.Acme.As(actor.Viewer), admission.Control{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if plan.Refusal == nil || !strings.HasSuffix(string(plan.Refusal.Code), ":FORBIDDEN") || plan.Token != nil || plan.Status != nil {
				t.Errorf("%s: %+v", name, plan)
			}
			if plan.LiveID == nil || *plan.LiveID != live.ID || len(plan.Requirements) != 1 || len(plan.Inputs) == 0 {
				t.Errorf("%s: live %v, %d requirements, inputs %s", name, plan.LiveID, len(plan.Requirements), plan.Inputs)
			}
		}
	})
}
