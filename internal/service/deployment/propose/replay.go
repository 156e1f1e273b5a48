package propose

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/inputprop"
	"slipway/internal/pure/release"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// Replay asks for a new deployment that ships the release of an earlier one.
type Replay struct {
	// SourceID is the earlier one.
	SourceID string
	admission.Request
}

// arguments are all that decides what is created.
func (in Replay) arguments() []any {
	return in.Control.AppendTo(state.AppendGiven([]any{in.SourceID, in.ExpectedLiveID}, "reason", in.Reason))
}

// planned are the arguments as far as they decide what is made.
func (in Replay) planned() []any {
	in.Request = in.Request.Planned()
	return in.arguments()
}

// Rollback creates a deployment that replays the exact release of a target that succeeded. It fails with
// DeploymentNotFound, DeploymentForbidden, ModuleInstanceArchived, DeploymentTargetNotSucceeded, ReleaseUnavailable,
// ReleaseDigestMismatch, ReleaseQuarantined, DeploymentResourceTaken, DeploymentInProgress, DeploymentLiveChanged and
// RequestIdempotencyReused. The warnings are what the caller should see to besides; a repeat under a key has none.
func (s *Service) Rollback(ctx context.Context, in Replay) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.replay(admission.Rollback, in))
}

// Redeploy creates a deployment that replays the exact release of one that has ended, well or not. It fails with the
// errors of Rollback but DeploymentTargetNotSucceeded.
func (s *Service) Redeploy(ctx context.Context, in Replay) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.replay(admission.Redeploy, in))
}

// replay returns the intent of a replay by a mode.
func (s *Service) replay(m admission.Mode, in Replay) intent {
	deploymentID := s.Journal.NewID(id.Deployment)
	return intent{
		Request: in.Request, action: m.Action, deploymentID: deploymentID, forbidden: fault.DeploymentForbidden,
		lock: store.Creating, arguments: in.arguments,
		prepare: func(context.Context, bool) (proposeFunc, *ent.Deployment, error) {
			if violations := in.Request.Check(); len(violations) > 0 {
				return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
			}
			return func(ctx context.Context, tx *ent.Tx, at time.Time) (*admission.Proposal, error) {
				return s.ReplayProposal(ctx, tx, m, in, deploymentID, at)
			}, nil, nil
		},
	}
}

// ReplayProposal returns what a replay comes to at a time.
func (s *Service) ReplayProposal(
	ctx context.Context, tx *ent.Tx, m admission.Mode, in Replay, deploymentID string, at time.Time,
) (*admission.Proposal, error) {
	a := actor.From(ctx)
	from, err := s.Admission.FindSource(ctx, tx, in.SourceID)
	if err != nil {
		return &admission.Proposal{}, err
	}
	p, err := from.ProposalWithRules(ctx, m, at)
	if err != nil {
		return p, err
	}

	p.Request = in.planned
	if p.Facts.Stay, err = s.Admission.StayOf(ctx, tx, p.Rules, from.PromotedTo(m)); err != nil {
		return p, err
	}

	var content release.Content
	open := func() (err error) {
		content, err = releases.VerifiedContent(from.ID, from.Release())
		return err
	}
	p.Refusal = s.Admission.CheckReplayable(a, m, from, open, at)
	if p.Refusal != nil {
		return p, nil //nolint:nilerr // a plan shows the refusal
	}

	data, err := replayedData(a, from, content)
	if err != nil {
		return p, err
	}

	p.OwnerID, p.Changes = optional.OrZero(
		from.ServiceOwnerID,
	), map[string]any{m.SourceField: from.ID, "releaseId": from.ReleaseID}
	p.Created = &ent.Deployment{
		ID: deploymentID, ProjectID: from.ProjectID, EnvironmentID: from.EnvironmentID,
		ModuleInstanceID: from.ModuleInstanceID, ReleaseID: from.ReleaseID,
		ModuleDefinitionID: &from.ModuleDefinitionID, ModuleVersionID: &from.ModuleVersionID,
		DeploymentType: from.DeploymentType, TriggerSource: m.Trigger, Reason: in.Reason,
		Description: new(describe(m.Verb, from.ID, *from.Version, from.Status, *from.CompletedAt, from.CreatedBy)),
		CreatedBy:   a.Name, CreatedByID: optional.NonZero(a.PrincipalID), CreatedByActor: optional.NonZero(a.ID),
		PromotedFrom: from.PromotedFrom,
		ResourceArn:  from.ResourceARN, ResourceName: from.ResourceName, GivenFrom: from.GivenFrom,
		Data: data.Column(), ServiceArn: state.ServiceOf(data),
	}

	m.SetSource(p.Created, from.ID)
	return p, nil
}

// replayedData returns the data of a replay, nil for deployment types that have none.
func replayedData(a *actor.Actor, from *admission.Source, content release.Content) (*ecs.Data, error) {
	target, err := from.Data.Target()
	if err != nil || target == nil {
		return nil, err
	}
	shipped, err := from.LiveData.DeployedTaskDefinition()
	if err != nil {
		return nil, err
	}
	return target.Replay(content.Artifact, shipped, string(a.Channel), a.Name)
}

// describe returns what is done with a deployment that has ended, which version of the module it ships, when it had
// ended and by whom it had been started.
func describe(
	verb, deploymentID, version string, status deployment.Status, completedAt time.Time, createdBy string,
) string {
	return verb + " " + deploymentID + ": version " + version + ", " + endedAs[status] + " at " +
		completedAt.UTC().Format(time.RFC3339) + ", started by " + createdBy
}

var endedAs = map[deployment.Status]string{
	deployment.StatusAWAITING_APPROVAL: "",
	deployment.StatusPENDING:           "",
	deployment.StatusRUNNING:           "",
	deployment.StatusSUCCEEDED:         "succeeded",
	deployment.StatusFAILED:            "failed",
	deployment.StatusCANCELED:          "canceled",
}
