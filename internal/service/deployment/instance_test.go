package deployment_test

import (
	"fmt"
	"testing"
	"time"

	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

func TestAnInstanceKnowsItsActiveAndItsLastDeploymentAndHowManyItHas(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Viewer)
		none := p.NewInstance(t, "none")
		theirs := w.Fixture(t, w.Globex, "web")
		theirs.Succeeded(t)
		b := newBus(w, "last")
		instance, _, _ := b.instance(t, p, "web", false)
		b.receive(t, stateOf(b.service("web"), time.Hour, "IN_PROGRESS", "ecs-svc/1", ""))
		outside := w.Store.Client.Deployment.Query().Where(entdeployment.TriggerSource("event")).OnlyX(ctx)
		ids := []string{instance.ID, none.ID, theirs.Instance.ID}
		want := func(active, last, counts string) {
			t.Helper()
			actives, err := w.Deploy.View.ActiveOf(ctx, ids)
			if err != nil {
				t.Fatal(err)
			}
			lasts, err := w.Deploy.View.LastOf(ctx, ids)
			if err != nil {
				t.Fatal(err)
			}
			of, err := w.Deploy.View.CountsOf(ctx, ids)
			if err != nil {
				t.Fatal(err)
			}
			idOf := func(found bool, id func() string) string {
				if !found {
					return ""
				}
				return id()
			}
			a, l := actives[instance.ID], lasts[instance.ID]
			if got := idOf(a != nil, func() string { return a.ID }); got != active {
				t.Errorf("active is %q, want %q", got, active)
			}
			if got := idOf(l != nil, func() string { return l.ID }); got != last {
				t.Errorf("the last is %q, want %q", got, last)
			}
			var got string
			for _, c := range of[instance.ID] {
				got += fmt.Sprint(c.Status, " ", c.Count, " ")
			}
			if got != counts {
				t.Errorf("there are %q, want %q", got, counts)
			}
			for _, other := range ids[1:] {
				if actives[other] != nil || lasts[other] != nil || len(of[other]) != 0 {
					t.Errorf("%s has %v, %v, %v", other, actives[other], lasts[other], of[other])
				}
			}
		}
		// What was started outside runs, and is not active.
		want("", outside.ID, "RUNNING 1 SUCCEEDED 1 ")
		d := p.Deploy(t, instance.ID, `{"image":"web:1"}`)
		want(d.ID, d.ID, "PENDING 1 RUNNING 1 SUCCEEDED 1 ")
		w.Cancel(t, w.Acme, d.ID)
		want("", d.ID, "RUNNING 1 SUCCEEDED 1 CANCELED 1 ")
	})
}

func TestADeploymentIsRefusedWhereAnotherIsLiveThanIsExpected(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, ctx := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Developer)
		create := func(expected *string) error {
			_, _, err := w.Deploy.Propose.Create(ctx, propose.New{
				InstanceID: p.Instance.ID, VersionID: p.Version.ID, Request: admission.Request{ExpectedLiveID: expected},
				Inputs: strictjson.MustParse(`{"image":"web:2"}`), Artifact: strictjson.MustParse(worldtest.Artifact),
			})
			return err
		}
		rows := func() int { return w.Rows(t)["deployments"] + w.Rows(t)["releases"] }
		before := rows()
		if err := create(new("dep_none")); !fault.Is(err, fault.DeploymentLiveChanged) {
			t.Errorf("nothing is live, and another is expected: %v", err)
		}
		if n := rows(); n != before {
			t.Errorf("a refusal left %d rows, there were %d", n, before)
		}
		first, second := p.Succeeded(t), p.Succeeded(t)
		if err := create(&first.ID); !fault.Is(err, fault.DeploymentLiveChanged) {
			t.Errorf("the one before is expected: %v", err)
		}
		if err := create(&second.ID); err != nil {
			t.Errorf("the live one is expected: %v", err)
		}
	})
}
