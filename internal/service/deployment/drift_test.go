package deployment_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"slipway/ent"
	entdeployment "slipway/ent/deployment"
	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/record"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
	"slipway/internal/test/testkit"
	"slipway/internal/test/worldtest"
)

// driftOf returns the kind, the time and the deployment of an instance's drift, "none" if there is none.
func (b *bus) driftOf(t *testing.T, instanceID string) string {
	t.Helper()
	i := b.Store.Client.ModuleInstance.GetX(b.Acme.As(actor.Viewer), instanceID)
	drift := state.DriftOf((*record.ModuleInstance)(i))
	if drift == nil {
		return "none"
	}
	return fmt.Sprint(drift.Kind, " ", stamp(&drift.Since), " ", drift.DeploymentID)
}

func (b *bus) liveOf(instanceID string) string {
	live := b.Store.Client.ModuleInstance.GetX(b.Acme.As(actor.Viewer), instanceID).LiveDeploymentID
	return orNone(live)
}

// deployTo claims a new deployment of an instance whose data has a service.
func (b *bus) deployTo(t *testing.T, p *worldtest.Fixture, instanceID, data string) (d *ent.Deployment, lease string) {
	t.Helper()
	claims.Lock()
	defer claims.Unlock()
	if _, _, err := b.deploy.Propose.Create(b.Acme.As(actor.Developer), propose.New{
		InstanceID: instanceID, VersionID: p.Version.ID, Inputs: strictjson.MustParse(`{"image":"web:2"}`),
		Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(data),
	}); err != nil {
		t.Fatal(err)
	}
	d, l, err := b.deploy.Execution.Claim(b.Acme.As(actor.Runner), execution.Claim{Kinds: []string{"aws:ecs"}})
	if err != nil {
		t.Fatal(err)
	}
	return d, l.ID
}

// rollsBack are the events of a deployment that the cloud rolls back a minute after its start.
func (b *bus) rollsBack(service string) []string {
	own, back := "ecs-svc/"+b.tag+"2", "ecs-svc/"+b.tag+"3"
	return []string{
		stateOf(service, 2*time.Second, "IN_PROGRESS", own, ""),
		stateOf(service, time.Minute, "IN_PROGRESS", back, "ECS deployment circuit breaker: rolling back to deploymentId ecs-svc/"+b.tag+"1."),
		stateOf(service, 2*time.Minute, "COMPLETED", back, ""),
	}
}

func TestWhatTheCloudHasRolledBackIsNoSuccess(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p := newBus(w, "back"), w.Fixture(t, w.Acme, "web")
		runner := w.Acme.As(actor.Runner)
		i, before, _ := b.instance(t, p, "web", false)
		d, lease := b.deployTo(t, p, i.ID, `{"serviceArn":"`+b.service("web")+`"}`)
		if _, _, err := b.deploy.Execution.Report(runner, d.ID, lease, execution.Report{ExternalDeploymentID: new("ecs-svc/back2")}); err != nil {
			t.Fatal(err)
		}
		b.receive(t, b.rollsBack(b.service("web"))...)
		done, err := b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
		if err != nil || done.Status != entdeployment.StatusFAILED || codeOf(done) != string(fault.DeploymentRolledBack) || done.CompletedAt == nil {
			t.Fatalf("%s %s, %v", done.Status, codeOf(done), err)
		}
		said := done.Error.Details[0].Object
		if said["status"] != "ROLLBACK_SUCCESSFUL" || !strings.Contains(fmt.Sprint(said["reason"]), "circuit breaker") || said["at"] != "2026-03-05T16:01:00Z" {
			t.Errorf("the evidence is %v", said)
		}
		again, err := b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
		if err != nil || again.Version != done.Version || codeOf(again) != codeOf(done) {
			t.Errorf("the same again: %v, %v", again, err)
		}
		_, err = b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{Failure: broken})
		refusedAs(t, err, fault.DeploymentLeaseLost)
		if live, drift := b.liveOf(i.ID), b.driftOf(t, i.ID); live != before.ID || drift != "none" {
			t.Errorf("live is %s, drift %s", live, drift)
		}
		data, err := b.Store.Client.Deployment.GetX(runner, d.ID).Data.Data()
		if err != nil || orNone(data.ClusterARN) != clusterARN || orNone(data.RevertExternalDeploymentID) != "ecs-svc/"+b.tag+"1" {
			t.Errorf("%v: %s", err, data.Encode())
		}
	})
}

func TestWhatARunnerReportsAgainstItsOwnDeploymentIsNoSuccess(t *testing.T) {
	t.Parallel()
	const one, two = `"serviceDeploymentArn":"arn:1"`, `"serviceDeploymentArn":"arn:2"`
	for name, c := range map[string]struct {
		// given is the state at creation, reported those of the reports.
		given    string
		reported []string
		want     string
	}{
		"rolled back":                          {"", []string{`"status":"ROLLBACK_SUCCESSFUL"`}, "ROLLBACK_SUCCESSFUL"},
		"about to be":                          {"", []string{`"status":"ROLLBACK_REQUESTED"`}, "ROLLBACK_REQUESTED"},
		"stopped":                              {"", []string{`"status":"STOPPED"`}, "STOPPED"},
		"failed":                               {"", []string{`"status":"FAILED"`}, "FAILED"},
		"to be stopped":                        {"", []string{`"status":"STOP_REQUESTED"`}, ""},
		"overwritten":                          {"", []string{`"status":"ROLLBACK_IN_PROGRESS"`, `"status":"SUCCESSFUL"`}, "ROLLBACK_IN_PROGRESS"},
		"overwritten, of the same":             {"", []string{one + `,"status":"FAILED"`, one + `,"status":"SUCCESSFUL"`}, "FAILED"},
		"of one before":                        {"", []string{one + `,"status":"FAILED"`, two + `,"status":"SUCCESSFUL"`}, ""},
		"of one before, and then":              {"", []string{one + `,"status":"FAILED"`, two + `,"status":"SUCCESSFUL"`, two + `,"status":"STOPPED"`}, "STOPPED"},
		"given beforehand":                     {`"status":"ROLLBACK_FAILED"`, nil, ""},
		"given beforehand, and reported again": {`"status":"ROLLBACK_FAILED"`, []string{`"status":"ROLLBACK_FAILED"`}, "ROLLBACK_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
				b, p, runner := newBus(w, "told"), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
				d, lease := b.deployTo(t, p, p.Instance.ID, `{"serviceDeploymentState":{`+c.given+`}}`)
				for _, state := range c.reported {
					if _, _, err := b.deploy.Execution.Report(runner, d.ID, lease, execution.Report{Data: strictjson.MustParse(`{"serviceDeploymentState":{` + state + `}}`)}); err != nil {
						t.Fatal(err)
					}
				}
				done, err := b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				if done.Error != nil {
					got = fmt.Sprint(done.Error.Details[0].Object["status"])
				}
				if got != c.want || (done.Status == entdeployment.StatusFAILED) != (c.want != "") || (b.liveOf(p.Instance.ID) == d.ID) != (c.want == "") {
					t.Errorf("%s: %s, want %q", done.Status, got, c.want)
				}
			})
		})
	}
}

func TestACanceledDeploymentStaysCanceledThoughItWasRolledBack(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p, runner := newBus(w, "canceled"), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		i, d, lease := b.instance(t, p, "web", true)
		b.receive(t, b.rollsBack(b.service("web"))...)
		if _, err := b.deploy.Execution.Cancel(w.Acme.As(actor.Developer), d.ID, nil); err != nil {
			t.Fatal(err)
		}
		done, err := b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{Canceled: true})
		if err != nil || done.Status != entdeployment.StatusCANCELED || codeOf(done) != string(fault.DeploymentCanceled) || b.driftOf(t, i.ID) != "none" {
			t.Errorf("%v, %v, drift %s", done, err, b.driftOf(t, i.ID))
		}
	})
}

// What speaks against a deployment stays known when its events are not kept any more.
func TestARollbackIsRememberedWhenItsEventsAreGone(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p, runner := newBus(w, "gone"), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		_, d, lease := b.instance(t, p, "web", true)
		service := b.service("web")
		b.receive(t, b.rollsBack(service)...)
		if _, err := w.Raw(t, w.Acme).ExecContext(t.Context(), "DELETE FROM cloud_events"); err != nil {
			t.Fatal(err)
		}
		b.receive(t, action(service, 3*time.Minute, "SERVICE_STEADY_STATE", ""))
		if _, _, err := b.deploy.Execution.Report(runner, d.ID, lease, execution.Report{Data: strictjson.MustParse(
			`{"serviceDeploymentState":{"status":"SUCCESSFUL","observedAt":"2026-03-05T17:00:00Z"}}`)}); err != nil {
			t.Fatal(err)
		}
		done, err := b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
		if err != nil || codeOf(done) != string(fault.DeploymentRolledBack) {
			t.Errorf("%v, %v", done, err)
		}
	})
}

func TestALateRollbackIsDriftUntilTheNextSuccess(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p, runner := newBus(w, "late"), w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		i, d, _ := b.instance(t, p, "web", false)
		service := b.service("web")
		events := b.rollsBack(service)
		b.receive(t, events[0])
		if drift := b.driftOf(t, i.ID); drift != "none" {
			t.Errorf("after the start: %s", drift)
		}
		b.receive(t, events[1:]...)
		if drift := b.driftOf(t, i.ID); drift != "ROLLED_BACK 2026-03-05T16:01:00Z "+d.ID {
			t.Errorf("after the rollback: %s", drift)
		}
		now := b.Store.Client.Deployment.GetX(runner, d.ID)
		changes := b.Store.Client.DeploymentChange.Query().Where(deploymentchange.DeploymentID(d.ID), deploymentchange.Version(now.Version)).CountX(runner)
		if now.Status != entdeployment.StatusSUCCEEDED || now.Error != nil || changes != 1 || b.liveOf(i.ID) != d.ID {
			t.Errorf("%s, error %v, %d changes to version %d, live %s", now.Status, now.Error, changes, now.Version, b.liveOf(i.ID))
		}
		// What fails clears nothing; what succeeds does.
		failed, lease := b.deployTo(t, p, i.ID, `{}`)
		if _, err := b.deploy.Execution.End(runner, failed.ID, lease, execution.Completion{Failure: broken}); err != nil || b.driftOf(t, i.ID) == "none" {
			t.Errorf("after a failure: %v, %s", err, b.driftOf(t, i.ID))
		}
		next, lease := b.deployTo(t, p, i.ID, `{}`)
		if _, err := b.deploy.Execution.End(runner, next.ID, lease, execution.Completion{}); err != nil || b.driftOf(t, i.ID) != "none" {
			t.Errorf("after a success: %v, %s", err, b.driftOf(t, i.ID))
		}
		b.receive(t, action(service, 3*time.Minute, "SERVICE_STEADY_STATE", ""))
		if drift := b.driftOf(t, i.ID); drift != "none" {
			t.Errorf("the one before is not live any more: %s", drift)
		}
	})
}

// A rollback that was taken for that of the live deployment is that of another once its start is known.
func TestDriftGoesWhereItsEventsGo(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p := newBus(w, "moved"), w.Fixture(t, w.Acme, "web")
		i, d, _ := b.instance(t, p, "web", false)
		service := b.service("web")
		b.receive(t, stateOf(service, 2*time.Second, "IN_PROGRESS", "ecs-svc/moved2", ""),
			stateOf(service, 2*time.Hour, "IN_PROGRESS", "ecs-svc/moved4", "ECS deployment alarm: rolling back."))
		if drift := b.driftOf(t, i.ID); drift != "ROLLED_BACK 2026-03-05T18:00:00Z "+d.ID {
			t.Errorf("at first: %s", drift)
		}
		b.receive(t, stateOf(service, time.Hour, "IN_PROGRESS", "ecs-svc/moved3", ""))
		if drift := b.driftOf(t, i.ID); drift != "none" {
			t.Errorf("with the start of the other: %s", drift)
		}
	})
}

// By the cloud's times the live deployment had ended before the other succeeded, though its runner told it later; or the
// other succeeded before.
func TestWhatSucceedsOutsideIsDriftByTheCloudsTime(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		for name, c := range map[string]struct {
			ended time.Duration
			want  string
		}{"before": {5 * time.Minute, "CHANGED_OUTSIDE 2026-03-05T16:10:00Z"}, "after": {15 * time.Minute, "none"}} {
			for _, order := range []string{"LEO", "LOE", "ELO", "EOL", "OLE", "OEL"} {
				b := newBus(w, name+order)
				i, d, lease := b.instance(t, p, "web", true)
				service := b.service("web")
				id := func(n int) string { return fmt.Sprint("ecs-svc/", b.tag, n) }
				if _, _, err := b.deploy.Execution.Report(runner, d.ID, lease, execution.Report{ExternalDeploymentID: new(id(1))}); err != nil {
					t.Fatal(err)
				}
				late := serviceAt(w, at.Add(20*time.Minute))
				var outside *ent.Deployment
				for _, step := range order {
					switch step {
					case 'L':
						if _, err := late.Execution.End(runner, d.ID, lease, execution.Completion{}); err != nil {
							t.Fatal(err)
						}
					case 'E':
						b.receive(t, stateOf(service, c.ended, "COMPLETED", id(1), ""))
					case 'O':
						b.receive(t, stateOf(service, 9*time.Minute, "IN_PROGRESS", id(2), ""), stateOf(service, 10*time.Minute, "COMPLETED", id(2), ""))
						outside = b.Store.Client.Deployment.Query().Where(entdeployment.ExternalDeploymentID(id(2))).OnlyX(runner)
					}
				}
				want := c.want
				if want != "none" {
					want += " " + outside.ID
				}
				if drift := b.driftOf(t, i.ID); drift != want {
					t.Errorf("%s %s: %s, want %s", name, order, drift, want)
				}
				now := b.Store.Client.Deployment.GetX(runner, outside.ID)
				if n := b.Store.Client.DeploymentChange.Query().Where(deploymentchange.DeploymentID(now.ID)).CountX(runner); n != int(now.Version) {
					t.Errorf("%s %s: %d changes to version %d", name, order, n, now.Version)
				}
			}
		}
	})
}

// A completion and an event against it at once: whichever comes first, the rollback is not lost.
func TestARollbackIsSeenByTheEndOrAsDrift(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p, runner := w.Fixture(t, w.Acme, "web"), w.Acme.As(actor.Runner)
		failed, drifted := 0, 0
		for round := range testkit.Often(40, 400) {
			b := newBus(w, fmt.Sprint("race", round))
			i, d, lease := b.instance(t, p, "web", true)
			events := b.rollsBack(b.service("web"))
			b.receive(t, events[0])
			sides := []func(){
				func() {
					insist(t, func() error {
						_, err := b.deploy.Execution.End(runner, d.ID, lease, execution.Completion{})
						return err
					})
				},
				func() {
					insist(t, func() error { return b.late().CloudEvents.ReceiveECSEvent(runner, strictjson.MustParse(events[1])) })
				},
			}
			var both sync.WaitGroup
			begun := make(chan struct{})
			for n := range sides {
				side := sides[(n+round)%2]
				both.Go(func() {
					if n == 1 {
						<-begun
					} else {
						close(begun)
					}
					side()
				})
			}
			both.Wait()
			done, drift := b.Store.Client.Deployment.GetX(runner, d.ID), b.driftOf(t, i.ID)
			switch {
			case codeOf(done) == string(fault.DeploymentRolledBack) && drift == "none" && b.liveOf(i.ID) == "none":
				failed++
			case done.Status == entdeployment.StatusSUCCEEDED && drift == "ROLLED_BACK 2026-03-05T16:01:00Z "+d.ID && b.liveOf(i.ID) == d.ID:
				drifted++
			default:
				t.Fatalf("round %d: %s %s, drift %s, live %s", round, done.Status, codeOf(done), drift, b.liveOf(i.ID))
			}
		}
		if failed == 0 || drifted == 0 {
			t.Errorf("%d saw it by the end, %d as drift", failed, drifted)
		}
	})
}

// insist repeats what the database was too busy for: the same again changes nothing.
func insist(t *testing.T, do func() error) {
	for {
		if err := do(); !fault.Is(err, fault.ServerUnavailable) {
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}

func TestARefusedPauseAsksForTheRevert(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		b, p := newBus(w, "refused"), w.Fixture(t, w.Acme, "web")
		_, d, _ := b.instance(t, p, "web", true)
		service := b.service("web")
		asked := func() string {
			data, err := b.Store.Client.Deployment.GetX(b.Acme.As(actor.Viewer), d.ID).Data.Data()
			if err != nil {
				t.Fatal(err)
			}
			return orNone(data.RevertRequestedAt)
		}
		b.receive(t, stateOf(service, 2*time.Second, "IN_PROGRESS", "ecs-svc/refused2", ""),
			hook(service, "run", time.Minute, "HOOK_FAILED", "AWS_LAMBDA", "check", "PRE_SCALE_UP"))
		if got := asked(); got != "none" {
			t.Errorf("a function that failed: %s", got)
		}
		b.receive(t, hook(service, "run", 2*time.Minute, "HOOK_AWAITING_ACTION", "PAUSE", "pause", "POST_SCALE_UP"),
			hook(service, "run", 3*time.Minute, "HOOK_FAILED", "PAUSE", "pause", "POST_SCALE_UP"))
		if got := asked(); got != "2026-03-05T16:03:00Z" {
			t.Errorf("a pause that was refused: %s", got)
		}
		b.receive(t, stateOf(service, 4*time.Minute, "IN_PROGRESS", "ecs-svc/refused3", "ECS deployment: rolling back."))
		if got := asked(); got != "2026-03-05T16:03:00Z" {
			t.Errorf("and the rollback of it: %s", got)
		}
	})
}
