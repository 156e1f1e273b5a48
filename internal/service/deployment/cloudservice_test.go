package deployment_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"slipway/ent"
	"slipway/ent/cloudservice"
	entdeployment "slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// scoped is an organization's actor of a role whose token is for one environment.
func scoped(o *worldtest.Org, role actor.Role, environmentID string) *actor.Actor {
	a := *actor.From(o.As(role))
	a.Scope = &actor.Scope{Environments: []string{environmentID}}
	return &a
}

// naming is a new deployment of an instance that names a service, "" for none.
func naming(p *worldtest.Fixture, instanceID, service string) propose.New {
	data := `{}`
	if service != "" {
		data = `{"serviceArn":"` + service + `"}`
	}
	return propose.New{
		InstanceID: instanceID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:1"}`),
		Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(data),
	}
}

func (b *bus) owner(t *testing.T, service string) string {
	t.Helper()
	return b.Store.Client.CloudService.Query().Where(cloudservice.ServiceArn(service)).OnlyX(b.Acme.As(actor.Viewer)).ModuleInstanceID
}

// TestNobodyReachesAnotherPlaceByNamingItsService is what a developer and a runner of staging may try.
func TestNobodyReachesAnotherPlaceByNamingItsService(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		production, staging, b := w.Fixture(t, w.Acme, "production"), w.Fixture(t, w.Acme, "staging"), newBus(w, "scope")
		_, live, _ := b.instance(t, production, "web", false)
		service, start := b.service("web"), stateOf(b.service("web"), time.Hour, "IN_PROGRESS", "ecs-svc/1", "")
		b.receive(t, start)
		rows := w.Rows(t)
		ctx := actor.With(t.Context(), scoped(w.Acme, actor.Developer, staging.Environment.ID))
		_, _, err := b.deploy.Propose.Create(ctx, naming(staging, staging.Instance.ID, service))
		refusedAs(t, err, fault.DeploymentResourceTaken)
		if f := fault.Public(err, fault.View{}); f.Metadata["moduleInstanceId"] != live.ModuleInstanceID || f.Metadata["serviceArn"] != service {
			t.Errorf("%+v", f.Metadata)
		}
		if now := w.Rows(t); now["deployments"] != rows["deployments"] || now["releases"] != rows["releases"] || now["cloud_services"] != rows["cloud_services"] {
			t.Errorf("a refused creation left %v of %v", now, rows)
		}
		d, _, err := b.deploy.Propose.Create(ctx, naming(staging, staging.Instance.ID, ""))
		if err != nil {
			t.Fatal(err)
		}
		runner := actor.With(t.Context(), scoped(w.Acme, actor.Runner, staging.Environment.ID))
		_, lease, err := b.deploy.Execution.Claim(runner, execution.Claim{Kinds: module.DeploymentTypes})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = b.deploy.Execution.Report(runner, d.ID, lease.ID, execution.Report{Data: strictjson.MustParse(`{"serviceArn":"` + service + `"}`)})
		refusedAs(t, err, fault.DeploymentResourceTaken)
		// What is refused is the report, not the deployment.
		if _, err := b.deploy.Execution.End(runner, d.ID, lease.ID, execution.Completion{}); err != nil {
			t.Error(err)
		}
		late := serviceAt(w, received)
		failed := strictjson.MustParse(stateOf(service, 2*time.Hour, "FAILED", "ecs-svc/1", "no"))
		refusedAs(t, late.CloudEvents.ReceiveECSEvent(runner, failed), fault.DeploymentForbidden)
		outside := w.Store.Client.Deployment.Query().Where(entdeployment.TriggerSource("event")).OnlyX(w.Acme.As(actor.Viewer))
		if outside.Status != "RUNNING" || outside.ModuleInstanceID != live.ModuleInstanceID {
			t.Errorf("%s at %s", outside.Status, outside.ModuleInstanceID)
		}
		own := actor.With(t.Context(), scoped(w.Acme, actor.Runner, production.Environment.ID))
		if err := late.CloudEvents.ReceiveECSEvent(own, failed); err != nil {
			t.Errorf("the place's own token: %v", err)
		}
	})
}

func TestAServiceBelongsToTheFirstThatNamesItUntilItIsMoved(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, elsewhere, b := w.Fixture(t, w.Acme, "web"), w.Fixture(t, w.Acme, "elsewhere"), newBus(w, "moved")
		first, source, _ := b.instance(t, p, "first", false)
		service := b.service("first")
		b.receive(t, stateOf(service, time.Hour, "IN_PROGRESS", "ecs-svc/1", ""))
		admin := w.Acme.As(actor.Admin)
		for _, c := range []struct {
			who     *actor.Actor
			service string
			to      string
			code    fault.Code
		}{
			{actor.From(w.Acme.As(actor.Developer)), service, elsewhere.Instance.ID, fault.ModuleInstanceForbidden},
			{scoped(w.Acme, actor.Admin, p.Environment.ID), service, elsewhere.Instance.ID, fault.ModuleInstanceForbidden},
			{scoped(w.Acme, actor.Admin, elsewhere.Environment.ID), service, elsewhere.Instance.ID, fault.ModuleInstanceForbidden},
			{actor.From(admin), b.service("unknown"), elsewhere.Instance.ID, fault.ServiceNotFound},
			{actor.From(admin), "web", elsewhere.Instance.ID, fault.RequestInvalid},
			{actor.From(admin), service, "inst_01jd0000000000000000000000", fault.ModuleInstanceNotFound},
			{actor.From(w.Globex.As(actor.Admin)), service, elsewhere.Instance.ID, fault.ModuleInstanceNotFound},
		} {
			_, err := b.deploy.CloudEvents.MoveService(actor.With(t.Context(), c.who), c.service, c.to)
			refusedAs(t, err, c.code)
		}
		if owner := b.owner(t, service); owner != first.ID {
			t.Errorf("it belongs to %s, want %s", owner, first.ID)
		}
		for range 2 { // once more changes nothing
			to, err := b.deploy.CloudEvents.MoveService(admin, service, elsewhere.Instance.ID)
			if err != nil || to.ID != elsewhere.Instance.ID {
				t.Fatalf("%v, %v", to, err)
			}
		}
		left := w.Store.Client.Deployment.Query().Where(entdeployment.TriggerSource("event")).OnlyX(admin)
		if left.Status != "CANCELED" || left.ModuleInstanceID != first.ID || left.Version != 2 {
			t.Errorf("what was under way is %s, version %d", left.Status, left.Version)
		}
		// A replay of the former one's is refused, and offered to nobody; events make records of the new one's.
		_, _, err := b.deploy.Propose.Redeploy(admin, propose.Replay{SourceID: source.ID})
		refusedAs(t, err, fault.DeploymentResourceTaken)
		can, err := b.deploy.Admission.Eligibilities(admin, []string{source.ID})
		if err != nil || can[source.ID].Redeploy.Allowed || !fault.Is(can[source.ID].Redeploy.Refusal, fault.DeploymentResourceTaken) {
			t.Errorf("%+v, %v", can[source.ID], err)
		}
		b.receive(t, stateOf(service, 90*time.Minute, "COMPLETED", "ecs-svc/1", ""), stateOf(service, 2*time.Hour, "IN_PROGRESS", "ecs-svc/2", ""))
		if now := w.Store.Client.Deployment.GetX(admin, left.ID); now.Version != left.Version {
			t.Errorf("the former instance's record has version %d", now.Version)
		}
		second := w.Store.Client.Deployment.Query().Where(entdeployment.ExternalDeploymentID("ecs-svc/2")).OnlyX(admin)
		if n := w.Store.Client.Deployment.Query().Where(entdeployment.TriggerSource("event")).CountX(admin); n != 2 || second.ModuleInstanceID != elsewhere.Instance.ID {
			t.Errorf("%d records, the last at %s", n, second.ModuleInstanceID)
		}
		// Back again, so that it may be replayed.
		if _, err := b.deploy.CloudEvents.MoveService(admin, service, first.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.deploy.Propose.Redeploy(admin, propose.Replay{SourceID: source.ID}); err != nil {
			t.Error(err)
		}
	})
}

// TestOfMoreThanOneWhoNameAServiceAtOnceOneWins has instances create deployments that name the same service, and others
// report it, while an admin moves it.
func TestOfMoreThanOneWhoNameAServiceAtOnceOneWins(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "raced")
		const racers = 6
		for round := range 4 {
			service := b.service(fmt.Sprint("raced", round))
			var mu sync.Mutex
			won := map[string]bool{}
			var all sync.WaitGroup
			name := func(instanceID string, call func() error) {
				all.Go(func() {
					err := call()
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						won[instanceID] = true
					} else if !fault.Is(err, fault.DeploymentResourceTaken) {
						t.Error(err)
					}
				})
			}
			start := make(chan struct{})
			elsewhere := p.NewInstance(t, fmt.Sprintf("elsewhere-%d", round))
			all.Go(func() {
				<-start
				testkit.Eventually(t, "the service is moved", func() bool {
					_, err := b.deploy.CloudEvents.MoveService(w.Acme.As(actor.Admin), service, elsewhere.ID)
					if err != nil && !fault.Is(err, fault.ServiceNotFound) {
						t.Error(err)
					}
					return err == nil
				})
			})
			for i := range racers {
				instance := p.NewInstance(t, fmt.Sprintf("racer-%d-%d", round, i))
				if i%2 == 0 {
					name(instance.ID, func() error {
						<-start
						_, _, err := b.deploy.Propose.Create(w.Acme.As(actor.Developer), naming(p, instance.ID, service))
						return err
					})
					continue
				}
				d, lease := b.held(t, p, instance.ID)
				name(instance.ID, func() error {
					<-start
					_, _, err := b.deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{Data: strictjson.MustParse(`{"serviceArn":"` + service + `"}`)})
					return err
				})
			}
			close(start)
			all.Wait()
			if owner := b.owner(t, service); len(won) != 1 || owner != elsewhere.ID {
				t.Errorf("%v won, the owner is %s", won, owner)
			}
			for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil()).AllX(w.Acme.As(actor.Viewer)) {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

// held makes a deployment that a runner holds and that names no service.
func (b *bus) held(t *testing.T, p *worldtest.Fixture, instanceID string) (d *ent.Deployment, leaseID string) {
	t.Helper()
	claims.Lock()
	defer claims.Unlock()
	if _, _, err := b.deploy.Propose.Create(b.Acme.As(actor.Developer), naming(p, instanceID, "")); err != nil {
		t.Fatal(err)
	}
	d, lease, err := b.deploy.Execution.Claim(b.Acme.As(actor.Runner), execution.Claim{Kinds: module.DeploymentTypes})
	if err != nil {
		t.Fatal(err)
	}
	return d, lease.ID
}

// TestWhatAServerOfBeforeHasWrittenCounts has deployments name a service that is not written down as anybody's.
func TestWhatAServerOfBeforeHasWrittenCounts(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, b := w.Fixture(t, w.Acme, "web"), newBus(w, "before")
		for name, call := range map[string]func(service string, first *ent.ModuleInstance, source *ent.Deployment) error{
			"event": func(service string, _ *ent.ModuleInstance, _ *ent.Deployment) error {
				return serviceAt(w, received).CloudEvents.ReceiveECSEvent(w.Acme.As(actor.Runner), strictjson.MustParse(stateOf(service, time.Hour, "IN_PROGRESS", "ecs-svc/"+service, "")))
			},
			"replay": func(_ string, _ *ent.ModuleInstance, source *ent.Deployment) error {
				_, _, err := b.deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: source.ID})
				return err
			},
			"own": func(service string, first *ent.ModuleInstance, _ *ent.Deployment) error {
				_, _, err := b.deploy.Propose.Create(w.Acme.As(actor.Developer), naming(p, first.ID, service))
				return err
			},
		} {
			first, source, _ := b.instance(t, p, name, false)
			service := b.service(name)
			if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), `DELETE FROM "cloud_services" WHERE "service_arn" = '`+service+`'`); err != nil {
				t.Fatal(err)
			}
			_, _, err := b.deploy.Propose.Create(w.Acme.As(actor.Developer), naming(p, p.NewInstance(t, "other-"+name).ID, service))
			refusedAs(t, err, fault.DeploymentResourceTaken)
			if err := call(service, first, source); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if owner := b.owner(t, service); owner != first.ID {
				t.Errorf("%s: it belongs to %s, want %s", name, owner, first.ID)
			}
			for _, d := range w.Store.Client.Deployment.Query().Where(entdeployment.CompletedAtIsNil(), entdeployment.TriggerSourceNEQ("event")).AllX(w.Acme.As(actor.Viewer)) {
				w.Cancel(t, w.Acme, d.ID)
			}
		}
	})
}

func TestEventsOfAnotherTimeAreRefused(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b := newBus(w, "times")
		for after, taken := range map[time.Duration]bool{
			-14*24*time.Hour - time.Second: false, -14 * 24 * time.Hour: true, 0: true, time.Hour: true, time.Hour + time.Second: false,
		} {
			err := b.deploy.CloudEvents.ReceiveECSEvent(w.Acme.As(actor.Runner), strictjson.MustParse(stateOf(b.service("web"), after, "IN_PROGRESS", "ecs-svc/1", "")))
			if taken != (err == nil) {
				t.Errorf("%s: %v", after, err)
			}
			if !taken {
				if f := fault.Public(err, fault.View{}); f.Code != string(fault.RequestInvalid) || fmt.Sprint(f.Metadata) == "" {
					t.Errorf("%s: %+v", after, f)
				}
			}
		}
		if n := w.Rows(t)["cloud_events"]; n != 3 {
			t.Errorf("%d events are kept, want 3", n)
		}
	})
}
