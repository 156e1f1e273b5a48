package deployment

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/release"
)

// Rollback creates a deployment that replays the exact release of a target that succeeded. It gives
// DeploymentNotFound, DeploymentForbidden, DeploymentTargetNotSucceeded, ReleaseUnavailable,
// ReleaseDigestMismatch and DeploymentInProgress.
func (s *Service) Rollback(ctx context.Context, targetID string) (*ent.Deployment, error) {
	return s.replay(ctx, rollback, targetID)
}

// Redeploy creates a deployment that replays the exact release of a source that has ended. It gives the
// same errors as Rollback but for DeploymentTargetNotSucceeded; a source that is still active is itself
// in progress.
func (s *Service) Redeploy(ctx context.Context, sourceID string) (*ent.Deployment, error) {
	return s.replay(ctx, redeploy, sourceID)
}

// kind is what distinguishes the two ways to replay.
type kind struct {
	action  string
	trigger string
	verb    string
	// admits says whether a deployment may be replayed so.
	admits func(*ent.Deployment) error
	// refer lets the new deployment refer to the one that it replays.
	refer func(*ent.DeploymentCreate, string) *ent.DeploymentCreate
}

var rollback = kind{
	action:  "rollbackDeployment",
	trigger: TriggerRollback,
	verb:    "Rollback to",
	admits:  succeeded,
	refer:   (*ent.DeploymentCreate).SetRollbackToDeploymentID,
}

var redeploy = kind{
	action:  "redeployDeployment",
	trigger: TriggerRedeploy,
	verb:    "Redeploy of",
	admits:  func(*ent.Deployment) error { return nil },
	refer:   (*ent.DeploymentCreate).SetRedeployOfDeploymentID,
}

func succeeded(target *ent.Deployment) error {
	if target.Status == deployment.StatusSUCCEEDED {
		return nil
	}
	f := fault.New(fault.DeploymentTargetNotSucceeded,
		"The deployment %s cannot be rolled back to: its status is %s, not SUCCEEDED.", target.ID, target.Status)
	f.Metadata = map[string]any{"deploymentId": target.ID, "status": string(target.Status)}
	return f
}

func (s *Service) replay(ctx context.Context, k kind, sourceID string) (*ent.Deployment, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	var created *ent.Deployment
	deploymentID := s.Journal.NewID(id.Deployment)
	err := s.start(ctx, k.action, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (string, error) {
		source, err := find(ctx, tx.Deployment, sourceID)
		if err != nil {
			return "", err
		}
		if err := access.Check(a, access.Deploy, fault.DeploymentForbidden); err != nil {
			return "", err
		}
		if err := k.admits(source); err != nil {
			return "", err
		}
		content, err := contentOf(ctx, tx, source)
		if err != nil {
			return "", err
		}
		data, err := replayedData(ctx, tx, source, content)
		if err != nil {
			return "", err
		}
		description, err := k.describe(ctx, tx, source, content)
		if err != nil {
			return "", err
		}
		e.ObjectID, e.Changes = deploymentID, map[string]any{"source": sourceID, "releaseId": source.ReleaseID}
		create := tx.Deployment.Create().
			SetID(deploymentID).SetOrganizationID(source.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetProjectID(source.ProjectID).SetEnvironmentID(source.EnvironmentID).
			SetModuleInstanceID(source.ModuleInstanceID).SetNillableReleaseID(source.ReleaseID).
			SetDeploymentType(source.DeploymentType).SetTriggerSource(k.trigger).
			SetDescription(description).SetCreatedBy(a.Name).
			SetNillableResourceArn(source.ResourceArn).SetNillableResourceName(source.ResourceName).
			SetData(data.Column())
		created, err = k.refer(create, source.ID).Save(ctx)
		return source.ModuleInstanceID, err
	})
	if err != nil {
		return nil, err
	}
	return created, nil
}

// replayedData gives the data of a replay, nil for kinds that have none.
func replayedData(ctx context.Context, tx *ent.Tx, source *ent.Deployment, content release.Content) (*ecs.Data, error) {
	data, err := source.Data.Data()
	if err != nil || data == nil {
		return nil, err
	}
	previous, err := liveTaskDefinition(ctx, tx, source.ModuleInstanceID)
	if err != nil {
		return nil, err
	}
	a := actor.From(ctx)
	return data.Replay(content.Artifact, previous, string(a.Channel), a.Name)
}

// liveTaskDefinition gives the task definition of the deployment that is live now, or nil.
func liveTaskDefinition(ctx context.Context, tx *ent.Tx, instanceID string) (*ecs.TaskDefinition, error) {
	instance, err := tx.ModuleInstance.Get(ctx, instanceID)
	if err != nil || instance.LiveDeploymentID == nil {
		return nil, err
	}
	live, err := tx.Deployment.Get(ctx, *instance.LiveDeploymentID)
	if err != nil {
		return nil, err
	}
	data, err := live.Data.Data()
	if err != nil || data == nil {
		return nil, err
	}
	return data.DeployedTaskDefinition, nil
}

// describe says what is replayed, which version of the module, when it had ended and by whom it had been
// started.
func (k kind) describe(ctx context.Context, tx *ent.Tx, source *ent.Deployment, content release.Content) (string, error) {
	version, err := tx.ModuleVersion.Get(ctx, content.ModuleVersionID)
	if err != nil {
		return "", err
	}
	ended := "is still active"
	if source.CompletedAt != nil {
		ended = fmt.Sprintf("%s at %s", endings[source.Status], source.CompletedAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s %s: version %s, %s, started by %s", k.verb, source.ID, version.Version, ended, source.CreatedBy), nil
}

var endings = map[deployment.Status]string{
	deployment.StatusSUCCEEDED: "succeeded",
	deployment.StatusFAILED:    "failed",
	deployment.StatusCANCELED:  "canceled",
}
