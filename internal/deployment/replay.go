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
	"slipway/internal/store"
)

// Replay asks for a new deployment that ships the release of an earlier one.
type Replay struct {
	// SourceID is the earlier one.
	SourceID string
	// ExpectedLiveID is what the caller takes for the instance's live deployment; nil is not checked.
	ExpectedLiveID *string
	// IdempotencyKey is the caller's name for the request, or nil.
	IdempotencyKey *string
}

// Rollback creates a deployment that replays the exact release of a target that succeeded. It gives
// DeploymentNotFound, DeploymentForbidden, DeploymentTargetNotSucceeded, ReleaseUnavailable,
// ReleaseDigestMismatch, ReleaseQuarantined, DeploymentInProgress, DeploymentLiveChanged and
// RequestIdempotencyReused.
func (s *Service) Rollback(ctx context.Context, in Replay) (*ent.Deployment, error) {
	return s.replay(ctx, rollback, in)
}

// Redeploy creates a deployment that replays the exact release of one that has ended, well or not. It
// gives the errors of Rollback but DeploymentTargetNotSucceeded.
func (s *Service) Redeploy(ctx context.Context, in Replay) (*ent.Deployment, error) {
	return s.replay(ctx, redeploy, in)
}

// kind is what distinguishes the two ways to replay.
type kind struct {
	action  string
	trigger string
	verb    string
	// admits says whether a deployment may be replayed so.
	admits func(*source) error
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
	// One that is active stands in its own way.
	admits: func(*source) error { return nil },
	refer:  (*ent.DeploymentCreate).SetRedeployOfDeploymentID,
}

func succeeded(target *source) error {
	if target.Status == deployment.StatusSUCCEEDED {
		return nil
	}
	f := fault.New(fault.DeploymentTargetNotSucceeded,
		"The deployment %s cannot be rolled back to: its status is %s, not SUCCEEDED.", target.ID, target.Status)
	f.Metadata = map[string]any{"deploymentId": target.ID, "status": string(target.Status)}
	return f
}

// judge says whether a source may be replayed at a time, and gives what its release ships. It is the one
// predicate of replays and of what is said of them beforehand.
func (s *Service) judge(a *actor.Actor, k kind, from *source, at time.Time) (release.Content, error) {
	in := actor.Place{ProjectID: from.ProjectID, EnvironmentID: from.EnvironmentID}
	if err := access.CheckIn(a, access.Deploy, in, fault.DeploymentForbidden); err != nil {
		return release.Content{}, err
	}
	if err := k.admits(from); err != nil {
		return release.Content{}, err
	}
	r := from.release()
	content, err := shipped(from.ID, r)
	if err != nil {
		return release.Content{}, err
	}
	if err := quarantined(r.ID, from.quarantine(), at); err != nil {
		return release.Content{}, err
	}
	if active := from.active(); active != nil {
		return release.Content{}, s.inProgress(active)
	}
	return content, nil
}

func (s *Service) replay(ctx context.Context, k kind, in Replay) (*ent.Deployment, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	r, err := s.newRequest(in.IdempotencyKey, k.action, func() []any { return []any{in.SourceID, in.ExpectedLiveID} })
	if err != nil {
		return nil, err
	}
	deploymentID := s.Journal.NewID(id.Deployment)
	return s.start(ctx, k.action, deploymentID, r, func(ctx context.Context, tx *ent.Tx, e *journal.Entry) (*ent.Deployment, string, error) {
		from, err := findSource(ctx, tx, in.SourceID)
		if err != nil {
			return nil, "", err
		}
		content, err := s.judge(a, k, from, e.At)
		if err == nil {
			err = expectedLive(in.ExpectedLiveID, idOrNone(from.LiveID))
		}
		if err != nil {
			return nil, "", err
		}
		data, err := replayedData(a, from, content)
		if err != nil {
			return nil, "", err
		}
		e.Changes = map[string]any{"source": from.ID, "releaseId": from.ReleaseID}
		create := tx.Deployment.Create().
			SetID(deploymentID).SetOrganizationID(from.OrganizationID).SetCreatedAt(e.At).SetUpdatedAt(e.At).
			SetProjectID(from.ProjectID).SetEnvironmentID(from.EnvironmentID).
			SetModuleInstanceID(from.ModuleInstanceID).SetNillableReleaseID(from.ReleaseID).
			SetDeploymentType(from.DeploymentType).SetTriggerSource(k.trigger).
			SetDescription(k.describe(from)).SetCreatedBy(a.Name).
			SetNillableResourceArn(from.ResourceARN).SetNillableResourceName(from.ResourceName).
			SetData(data.Column())
		created, err := k.refer(create, from.ID).Save(ctx)
		return created, from.ModuleInstanceID, err
	})
}

func findSource(ctx context.Context, tx *ent.Tx, sourceID string) (*source, error) {
	if err := store.CheckID(id.Deployment, sourceID, fault.DeploymentNotFound); err != nil {
		return nil, err
	}
	found, err := sources(ctx, tx.Deployment, true, sourceID)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, store.NotFound(sourceID, fault.DeploymentNotFound)
	}
	return found[0], nil
}

// expectedLive refuses where another deployment is live than the caller has seen.
func expectedLive(expected *string, live string) error {
	if expected == nil || *expected == live {
		return nil
	}
	f := fault.New(fault.DeploymentLiveChanged, "The deployment %.100q is not live any more, %s is.", *expected, live)
	f.Metadata = map[string]any{"expectedLiveDeploymentId": *expected}
	if live == "" {
		f.Message = fmt.Sprintf("The deployment %.100q is not live, none is.", *expected)
	} else {
		f.Metadata["liveDeploymentId"] = live
	}
	return f
}

// replayedData gives the data of a replay, nil for kinds that have none.
func replayedData(a *actor.Actor, from *source, content release.Content) (*ecs.Data, error) {
	data, err := from.Data.Data()
	if err != nil || data == nil {
		return nil, err
	}
	var shipped *ecs.TaskDefinition
	live, err := from.LiveData.Data()
	if err != nil {
		return nil, err
	}
	if live != nil {
		shipped = live.DeployedTaskDefinition
	}
	return data.Replay(content.Artifact, shipped, string(a.Channel), a.Name)
}

// describe says what is replayed, which version of the module, when it had ended and by whom it had been
// started. Only what has ended can be replayed.
func (k kind) describe(from *source) string {
	return fmt.Sprintf("%s %s: version %s, %s at %s, started by %s", k.verb, from.ID, *from.Version,
		endings[from.Status], from.CompletedAt.UTC().Format(time.RFC3339), from.CreatedBy)
}

var endings = map[deployment.Status]string{
	deployment.StatusSUCCEEDED: "succeeded",
	deployment.StatusFAILED:    "failed",
	deployment.StatusCANCELED:  "canceled",
}
