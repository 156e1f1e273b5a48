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
	"slipway/internal/gate"
	"slipway/internal/id"
	"slipway/internal/inputprop"
	"slipway/internal/optional"
	"slipway/internal/record"
	"slipway/internal/release"
	"slipway/internal/store"
)

// Replay asks for a new deployment that ships the release of an earlier one.
type Replay struct {
	// SourceID is the earlier one.
	SourceID string
	Request
}

// arguments are all that decides what is created.
func (in Replay) arguments() []any {
	return in.Control.appendTo(appendGiven([]any{in.SourceID, in.ExpectedLiveID}, "reason", in.Reason))
}

// planned are the arguments as far as they decide what is made.
func (in Replay) planned() []any {
	in.Request = in.Request.planned()
	return in.arguments()
}

// Rollback creates a deployment that replays the exact release of a target that succeeded. It fails with DeploymentNotFound,
// DeploymentForbidden, ModuleInstanceArchived, DeploymentTargetNotSucceeded, ReleaseUnavailable, ReleaseDigestMismatch,
// ReleaseQuarantined, DeploymentResourceTaken, DeploymentInProgress, DeploymentLiveChanged and RequestIdempotencyReused.
func (s *Service) Rollback(ctx context.Context, in Replay) (*ent.Deployment, error) {
	d, _, err := s.RollbackWarned(ctx, in)
	return d, err
}

// RollbackWarned is Rollback, and returns what the caller should see to besides; nothing for a repeat under a key.
func (s *Service) RollbackWarned(ctx context.Context, in Replay) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.replay(rollback, in))
}

// Redeploy creates a deployment that replays the exact release of one that has ended, well or not. It fails with the errors
// of Rollback but DeploymentTargetNotSucceeded.
func (s *Service) Redeploy(ctx context.Context, in Replay) (*ent.Deployment, error) {
	d, _, err := s.RedeployWarned(ctx, in)
	return d, err
}

// RedeployWarned is Redeploy, and returns what the caller should see to besides; nothing for a repeat under a key.
func (s *Service) RedeployWarned(ctx context.Context, in Replay) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.replay(redeploy, in))
}

// replayMode is what distinguishes a rollback from a redeploy.
type replayMode struct {
	action    string
	operation gate.Operation
	trigger   string
	verb      string
	// permission is what it takes, and forbidden the code for who lacks it.
	permission access.Action
	forbidden  fault.Code
	// shipsQuarantined is whether the release may be in quarantine.
	shipsQuarantined bool
	// check returns why a deployment may not be replayed so, or nil.
	check func(*source) error
	// setSource lets the new deployment refer to the one that it replays; sourceField is the API's name of that.
	setSource   func(d *ent.Deployment, id string)
	sourceField string
}

var rollback = replayMode{
	action:      "rollbackDeployment",
	operation:   gate.Rollback,
	trigger:     TriggerRollback,
	verb:        "Rollback to",
	permission:  access.Deploy,
	forbidden:   fault.DeploymentForbidden,
	check:       checkSucceeded,
	setSource:   func(d *ent.Deployment, id string) { d.RollbackToDeploymentID = &id },
	sourceField: "rollbackToDeploymentId",
}

var redeploy = replayMode{
	action:     "redeployDeployment",
	operation:  gate.Redeploy,
	trigger:    TriggerRedeploy,
	verb:       "Redeploy of",
	permission: access.Deploy,
	forbidden:  fault.DeploymentForbidden,
	// One that is active stands in its own way.
	check:       checkNotAwaiting,
	setSource:   func(d *ent.Deployment, id string) { d.RedeployOfDeploymentID = &id },
	sourceField: "redeployOfDeploymentId",
}

// checkNotAwaiting refuses a source that waits for approvals: it has not been carried out.
func checkNotAwaiting(from *source) error {
	return checkStatus(&ent.Deployment{ID: from.ID, Status: from.Status}, "redeployed",
		deployment.StatusPENDING, deployment.StatusRUNNING, deployment.StatusSUCCEEDED, deployment.StatusFAILED, deployment.StatusCANCELED)
}

func checkSucceeded(target *source) error {
	if target.Status == deployment.StatusSUCCEEDED {
		return nil
	}
	f := fault.New(fault.DeploymentTargetNotSucceeded,
		"The deployment %s cannot be rolled back to: its status is %s, not SUCCEEDED.", target.ID, target.Status)
	f.Metadata = map[string]any{"deploymentId": target.ID, "status": string(target.Status)}
	return f
}

// replay returns the intent of a replay by a mode.
func (s *Service) replay(m replayMode, in Replay) intent {
	deploymentID := s.Journal.NewID(id.Deployment)
	return intent{
		Request: in.Request, action: m.action, deploymentID: deploymentID, forbidden: fault.DeploymentForbidden, lock: store.Creating, arguments: in.arguments,
		prepare: func(context.Context, bool) (proposeFunc, *ent.Deployment, error) {
			if violations := in.Request.check(); len(violations) > 0 {
				return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
			}
			return func(ctx context.Context, tx *ent.Tx, at time.Time) (*proposal, error) {
				return s.proposeReplay(ctx, tx, m, in, deploymentID, at)
			}, nil, nil
		},
	}
}

// proposeReplay returns what a replay comes to at a time.
func (s *Service) proposeReplay(ctx context.Context, tx *ent.Tx, m replayMode, in Replay, deploymentID string, at time.Time) (*proposal, error) {
	a := actor.From(ctx)
	from, err := s.findSource(ctx, tx, in.SourceID)
	if err != nil {
		return &proposal{}, err
	}
	p, err := from.proposalWithRules(ctx, m, at)
	if err != nil {
		return p, err
	}
	p.request, p.warnings = in.planned, from.concerns().warnings("/id")
	if p.facts.Stay, err = s.stayOf(ctx, tx, p.rules, from.promotedTo(m)); err != nil {
		return p, err
	}
	var content release.Content
	open := func() (err error) {
		content, err = verifiedContent(from.ID, from.release())
		return err
	}
	p.refusal = s.checkReplayable(a, m, from, open, at)
	if p.refusal != nil {
		return p, nil //nolint:nilerr // a plan shows the refusal
	}
	data, err := replayedData(a, from, content)
	if err != nil {
		return p, err
	}
	p.ownerID, p.changes = optional.OrZero(from.ServiceOwnerID), map[string]any{m.sourceField: from.ID, "releaseId": from.ReleaseID}
	p.created = &ent.Deployment{
		ID: deploymentID, ProjectID: from.ProjectID, EnvironmentID: from.EnvironmentID,
		ModuleInstanceID: from.ModuleInstanceID, ReleaseID: from.ReleaseID,
		DeploymentType: from.DeploymentType, TriggerSource: m.trigger, Reason: in.Reason,
		Description: new(describe(m.verb, from.ID, *from.Version, from.Status, *from.CompletedAt, from.CreatedBy)), CreatedBy: a.Name, CreatedByID: optional.NonZero(a.PrincipalID), PromotedFrom: from.PromotedFrom,
		ResourceArn: from.ResourceARN, ResourceName: from.ResourceName, GivenFrom: from.GivenFrom,
		Data: data.Column(), ServiceArn: serviceOf(data),
	}
	m.setSource(p.created, from.ID)
	return p, nil
}

// checkExpectedLive refuses a deployment where another is live than the caller expects.
func checkExpectedLive(expected *string, live string) error {
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

// replayedData returns the data of a replay, nil for deployment types that have none.
func replayedData(a *actor.Actor, from *source, content release.Content) (*ecs.Data, error) {
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

// describe returns what is done with a deployment that has ended, which version of the module it ships, when it had ended and by
// whom it had been started.
func describe(verb, deploymentID, version string, status deployment.Status, completedAt time.Time, createdBy string) string {
	return fmt.Sprintf("%s %s: version %s, %s at %s, started by %s", verb, deploymentID, version,
		endedAs[status], completedAt.UTC().Format(time.RFC3339), createdBy)
}

var endedAs = map[deployment.Status]string{
	deployment.StatusAWAITING_APPROVAL: "",
	deployment.StatusPENDING:           "",
	deployment.StatusRUNNING:           "",
	deployment.StatusSUCCEEDED:         "succeeded",
	deployment.StatusFAILED:            "failed",
	deployment.StatusCANCELED:          "canceled",
}

// maxLineage is how many deployments a lineage has at most, the nearest.
const maxLineage = 100

// Lineages returns what each deployment replays, what that replayed and so on, the nearest first, at most
// 100. It takes two statements however many ids there are.
func (s *Service) Lineages(ctx context.Context, ids []string) (map[string][]*record.Deployment, error) {
	links, err := s.Store.Lineage(ctx, ids, maxLineage)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	wanted := make([]string, 0, len(links))
	seen := make(map[string]*record.Deployment, len(links))
	for _, l := range links {
		if _, twice := seen[l.ID]; !twice {
			seen[l.ID] = nil
			wanted = append(wanted, l.ID)
		}
	}
	list, err := s.DeploymentsByID(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		seen[d.ID] = d
	}
	lines := make(map[string][]*record.Deployment, len(ids))
	for _, l := range links {
		if d := seen[l.ID]; d != nil {
			lines[l.Of] = append(lines[l.Of], d)
		}
	}
	return lines, nil
}
