package deployment_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/module"
	"slipway/internal/service/deployment/execution"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/test/worldtest"
)

// full makes a deployment that succeeded and has every field that a replay must not take over.
func full(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	name, arn, description := "web", "arn:aws:ecs:eu-west-1:123456789012:service/main/web", "first"
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID,
		Inputs: strictjson.MustParse(`{"image":"web:1.4.2"}`), Artifact: strictjson.MustParse(worldtest.Artifact), Data: strictjson.MustParse(worldtest.Data),
		Description: &description, ResourceARN: &arn, ResourceName: &name,
	})
	if err != nil {
		t.Fatal(err)
	}
	lease := p.Claim(t, d)
	external := "ecs-svc/1"
	if _, _, err := w.Deploy.Execution.Report(w.Acme.As(actor.Runner), d.ID, lease, execution.Report{ExternalDeploymentID: &external, Data: strictjson.MustParse(`{
		"detectedVia":"poll","ecsModuleDeploymentId":"e1","serviceDeploymentArn":"arn:s","events":[{"message":"started"}],
		"acceptedPauseControl":{"hookId":"h"},"elbListenerState":[{"loadBalancerArn":"arn:l"}],"revertRequestedAt":"2026-03-01T09:30:00Z",
		"revertExternalDeploymentId":"r1","revertServiceDeploymentArn":"arn:r","serviceDeploymentState":{"status":"SUCCESSFUL"}}`)}); err != nil {
		t.Fatal(err)
	}
	raw(t, w, `UPDATE deployments SET pipeline_run_id = 'run', step_execution_id = 'step' WHERE id = '`+d.ID+`'`)
	done, err := w.Deploy.Execution.End(w.Acme.As(actor.Runner), d.ID, lease, execution.Completion{})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestReplayTakesWhatItShouldAndNothingElse(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		source := full(t, w, p)
		live := p.Finish(t, other(t, w, p), nil)
		for trigger, replay := range map[string]worldtest.Replaying{
			"rollback": w.Deploy.Propose.Rollback, "redeploy": w.Deploy.Propose.Redeploy,
		} {
			begun := time.Now().Add(-time.Second)
			got, _, err := replay(w.Acme.As(actor.Admin), propose.Replay{SourceID: source.ID})
			if err != nil {
				t.Fatal(err)
			}
			want := &ent.Deployment{
				OrganizationID: w.Acme.ID, ProjectID: source.ProjectID, EnvironmentID: source.EnvironmentID,
				ModuleInstanceID: source.ModuleInstanceID, ReleaseID: source.ReleaseID, DeploymentType: "aws:ecs",
				TriggerSource: trigger, Status: "PENDING", ResourceArn: source.ResourceArn, ResourceName: source.ResourceName,
				ServiceArn: source.ServiceArn, GivenFrom: &source.ID, CreatedBy: "admin", CreatedByID: new(actor.From(w.Acme.As(actor.Admin)).PrincipalID),
				CreatedByActor: new(actor.From(w.Acme.As(actor.Admin)).ID), Version: 1,
				ModuleDefinitionID: &p.Definition.ID, ModuleVersionID: &p.Version.ID,
			}
			verb := "Redeploy of "
			if want.RedeployOfDeploymentID = &source.ID; trigger == "rollback" {
				want.RollbackToDeploymentID, want.RedeployOfDeploymentID = &source.ID, nil
				verb = "Rollback to "
			}
			description := fmt.Sprintf("%s%s: version 1.4.0, succeeded at %s, started by developer",
				verb, source.ID, source.CompletedAt.UTC().Format(time.RFC3339))
			want.Description, want.SearchText = &description, new(textrules.Fold(description))
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ent.Deployment{}, ent.DeploymentEdges{}),
				cmpopts.IgnoreFields(ent.Deployment{}, "ID", "CreatedAt", "UpdatedAt", "Data")); diff != "" {
				t.Errorf("%s: want (-), got (+):\n%s", trigger, diff)
			}
			if got.ID == source.ID || !strings.HasPrefix(got.ID, "dep_") || got.CreatedAt.Before(begun) || !got.UpdatedAt.Equal(got.CreatedAt) {
				t.Errorf("%s: id %s, created %s, updated %s", trigger, got.ID, got.CreatedAt, got.UpdatedAt)
			}
			wantData := worldtest.Data[:len(worldtest.Data)-1] + `,"type":"aws:ecs","triggerChannel":"graphql","triggeredBy":"admin",
				"deployedTaskDefinition":` + worldtest.Artifact + `,"previousTaskDefinition":{"arn":"arn:other","revision":8}}`
			if diff := cmp.Diff(object(t, []byte(wantData)), object(t, got.Data.JSON())); diff != "" {
				t.Errorf("%s, data: want (-), got (+):\n%s", trigger, diff)
			}
			stored, err := w.Deploy.View.Deployment(w.Acme.As(actor.Viewer), got.ID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, (*ent.Deployment)(stored), cmpopts.IgnoreUnexported(ent.Deployment{}, ent.DeploymentEdges{}, ecs.Column{})); diff != "" {
				t.Errorf("%s: answered (-), stored (+):\n%s", trigger, diff)
			}
			if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), got.ID, nil); err != nil {
				t.Fatal(err)
			}
		}
		if i := w.Store.Client.ModuleInstance.GetX(w.Acme.As(actor.Viewer), p.Instance.ID); *i.LiveDeploymentID != live.ID {
			t.Errorf("live is %s now", *i.LiveDeploymentID)
		}
	})
}

// other makes a PENDING deployment of another task definition.
func other(t *testing.T, w *worldtest.World, p *worldtest.Fixture) *ent.Deployment {
	t.Helper()
	d, _, err := w.Deploy.Propose.Create(w.Acme.As(actor.Developer), propose.New{
		InstanceID: p.Instance.ID, VersionID: p.Version.ID,
		Inputs: strictjson.MustParse(`{"image":"web:2"}`), Artifact: strictjson.MustParse(`{"arn":"arn:other","revision":8}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhatFailedCanBeRedeployed(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		for _, status := range []string{"FAILED", "CANCELED"} {
			source := states[status](t, p, w)
			again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: source.ID})
			if err != nil || *again.ReleaseID != *source.ReleaseID || again.Error != nil || again.Status != "PENDING" ||
				!strings.Contains(*again.Description, strings.ToLower(status)+" at ") {
				t.Errorf("%s: %v, %v", status, again, err)
			}
			p.Finish(t, again, nil)
		}
	})
}

func TestLiveDeploymentAndReplaysOfReplaysCanBeRolledBackTo(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := p.Succeeded(t)
		for range 3 {
			again, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Developer), propose.Replay{SourceID: target.ID})
			if err != nil || *again.ReleaseID != *target.ReleaseID || *again.RollbackToDeploymentID != target.ID {
				t.Fatalf("%v, %v", again, err)
			}
			target = p.Finish(t, again, nil)
		}
	})
}

func TestEqualContentIsOneReleaseOfItsOrganization(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		one := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1","replicas":2}`), nil)
		same := p.Finish(t, p.Deploy(t, p.Instance.ID, `{ "replicas": 2.0, "image": "web:1" }`), nil)
		elsewhere := p.Finish(t, p.Deploy(t, p.NewInstance(t, "worker").ID, `{"image":"web:1","replicas":2}`), nil)
		differs := p.Finish(t, p.Deploy(t, p.Instance.ID, `{"image":"web:1","replicas":3}`), nil)
		if *same.ReleaseID != *one.ReleaseID || *elsewhere.ReleaseID != *one.ReleaseID || *differs.ReleaseID == *one.ReleaseID {
			t.Errorf("releases %s, %s, %s, %s", *one.ReleaseID, *same.ReleaseID, *elsewhere.ReleaseID, *differs.ReleaseID)
		}
		if n := w.Rows(t)["releases"]; n != 2 {
			t.Errorf("%d releases, want 2", n)
		}
	})
}

func TestEveryChangeOfADeploymentIsAudited(t *testing.T) {
	t.Parallel()
	worldtest.Each(t, func(t *testing.T, w *worldtest.World) {
		p := w.Fixture(t, w.Acme, "web")
		target := full(t, w, p)
		rolled, _, err := w.Deploy.Propose.Rollback(w.Acme.As(actor.Admin), propose.Replay{SourceID: target.ID})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Deploy.Execution.Cancel(w.Acme.As(actor.Developer), rolled.ID, nil); err != nil {
			t.Fatal(err)
		}
		again, _, err := w.Deploy.Propose.Redeploy(w.Acme.As(actor.Developer), propose.Replay{SourceID: rolled.ID})
		if err != nil {
			t.Fatal(err)
		}
		// Who finds nothing to do has done nothing.
		if _, _, err := w.Deploy.Execution.Claim(w.Acme.As(actor.Runner), execution.Claim{Kinds: []string{module.DeploymentTypeTerraform}}); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string][]string{
			target.ID: {"createDeployment developer", "claimDeployment runner", "reportDeployment runner", "completeDeployment runner"},
			rolled.ID: {"rollbackDeployment admin", "cancelDeployment developer"},
			again.ID:  {"redeployDeployment developer"},
		} {
			var got []string
			events := w.Store.Client.AuditEvent.Query().Where(auditevent.ObjectID(id)).
				Order(ent.Asc(auditevent.FieldCreatedAt, auditevent.FieldID)).AllX(w.Acme.As(actor.Admin))
			for _, e := range events {
				got = append(got, e.Action+" "+e.ActorName)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", id, diff)
			}
		}
	})
}

func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
