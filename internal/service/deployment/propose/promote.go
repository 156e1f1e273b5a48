package propose

import (
	"context"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/inputvalidation"
)

// Promotion asks for a deployment of one instance with what was given to a deployment of another of the same module.
type Promotion struct {
	// SourceID is the deployment, which has succeeded, and InstanceID the instance that it is brought to.
	SourceID, InstanceID string
	// Inputs are values in the place of those of the source: of inputs that the instance keeps of its own, and of
	// references. It may be nil.
	Inputs *strictjson.Node
	// Artifact is in the place of the source's, if the instance keeps its own; nil for none.
	Artifact *strictjson.Node
	// PipelineRunID and StepExecutionID are what it is part of; nil for nothing.
	PipelineRunID, StepExecutionID *string
	admission.Request
}

// Promote creates a deployment of an instance with what was given to one of another, judged as if it had been given
// there, and returns what the caller should see to besides. It fails with the errors of Create, and with
// DeploymentTargetNotSucceeded and DeploymentNotPromoted.
func (s *Service) Promote(ctx context.Context, in Promotion) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.creation(in))
}

func (Promotion) action() string { return "promoteDeployment" }

func (Promotion) operation() gate.Operation { return gate.Promote }

func (Promotion) triggerSource() string { return state.TriggerPromotion }

// given implements origin.
func (in Promotion) given() New {
	return New{
		InstanceID: in.InstanceID, Inputs: in.Inputs, Artifact: in.Artifact,
		PipelineRunID: in.PipelineRunID, StepExecutionID: in.StepExecutionID, Request: in.Request,
	}
}

// arguments implements origin.
func (in Promotion) arguments() []any { return in.given().argumentsWith(&in.SourceID) }

// planned implements origin.
func (in Promotion) planned() []any {
	in.Request = in.Request.Planned()
	return in.arguments()
}

// find implements origin: it reads what is promoted, and the instance that it is brought to, and notes both, with the
// version.
func (in Promotion) find(ctx context.Context, s *Service) (*prepared, error) {
	if err := store.CheckID(id.ModuleInstance, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	from, err := state.Find(ctx, s.Store.Client.Deployment, in.SourceID)
	if err != nil {
		return nil, err
	}

	instance, err := s.Store.Client.ModuleInstance.Get(ctx, in.InstanceID)
	if instance, err = store.NotFoundAs(instance, err, in.InstanceID, fault.ModuleInstanceNotFound); err != nil {
		return nil, err
	}
	if err := checkPromotable(from); err != nil {
		return nil, err
	}

	source, err := s.Store.Client.ModuleInstance.Get(ctx, from.ModuleInstanceID)
	if err != nil {
		return nil, err
	}

	switch {
	case source.ID == instance.ID:
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/moduleInstanceId", Rule: "same_instance",
			Message: "must be another instance than that of the deployment; redeploy it there, or roll back to it"})
	case source.ModuleDefinitionID != instance.ModuleDefinitionID:
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/moduleInstanceId", Rule: "other_module",
			Message: fmt.Sprintf(
				"must be an instance of the module %s, found one of %s", source.ModuleDefinitionID, instance.ModuleDefinitionID,
			)})
	}

	if from.ReleaseID == nil {
		return nil, releases.NotStored(from.ID)
	}
	shipped, err := s.Store.Client.Release.Get(ctx, *from.ReleaseID)
	if ent.IsNotFound(err) {
		return nil, releases.NotStored(from.ID)
	}
	if err != nil {
		return nil, err
	}

	version, err := s.Store.Client.ModuleVersion.Get(ctx, shipped.ModuleVersionID)
	if err != nil {
		return nil, err
	}
	return &prepared{instance: instance, version: version, promoted: from}, nil
}

// checkPromotable returns why a deployment cannot be promoted, nil if it can.
func checkPromotable(from *ent.Deployment) error {
	switch {
	case from.TriggerSource == state.TriggerEvent:
		return releases.NoRelease(from.ID)
	case from.TriggerSource == state.TriggerDestroy:
		f := fault.New(fault.DeploymentNotReplayable, "The deployment %s was a destroy, which is not promoted.", from.ID)
		f.Metadata = map[string]any{"deploymentId": from.ID}
		return f
	case from.Status != deployment.StatusSUCCEEDED:
		f := fault.New(fault.DeploymentTargetNotSucceeded, "The deployment %s cannot be promoted: its status is %s, not "+
			"SUCCEEDED.", from.ID, from.Status)
		f.Metadata = map[string]any{"deploymentId": from.ID, "status": string(from.Status)}
		return f
	}
	return nil
}

// take implements origin. What is to be created has the inputs as they count as given, the artifact, and goes where the
// instance's live deployment went.
func (in Promotion) take(ctx context.Context, s *Service, p *prepared) ([]fault.Violation, error) {
	var live *ent.Deployment
	var err error
	if id := p.instance.LiveDeploymentID; id != nil {
		if live, err = s.Store.Client.Deployment.Get(ctx, *id); err != nil {
			return nil, err
		}
	}
	list, err := p.version.Inputs.Properties(ctx)
	if err != nil {
		return nil, err
	}
	if p.scope, err = s.Inputs.InstanceScope(ctx, p.instance, p.version); err != nil {
		return nil, err
	}

	promotion := inputvalidation.Promotion{
		From: p.promoted, To: p.instance, Live: live, Inputs: list, Scope: p.scope, Values: in.Inputs,
	}
	var violations []fault.Violation
	if p.taken, violations, err = s.Inputs.Promote(ctx, promotion, "/inputs"); err != nil {
		return nil, err
	}
	p.Inputs = p.taken.Values
	wrong, err := s.takeArtifact(ctx, p, live)
	if live != nil {
		p.ResourceARN, p.ResourceName = live.ResourceArn, live.ResourceName
		if err == nil && p.version.Kind == ecs.Type {
			p.target, err = live.Data.Target()
		}
	}

	from := p.promoted
	p.Description = new(
		describe("Promotion of", from.ID, p.version.Version, from.Status, *from.CompletedAt, from.CreatedBy),
	)
	return append(violations, wrong...), err
}

// takeArtifact sets the artifact of a promotion: what is given anew or live, if the instance keeps its own, else
// what is promoted.
func (s *Service) takeArtifact(
	ctx context.Context, p *prepared, live *ent.Deployment,
) (violations []fault.Violation, err error) {
	isOwn := slices.Contains(p.instance.OwnInputs, inputvalidation.OwnArtifact)
	switch {
	case p.Artifact != nil && !isOwn:
		return []fault.Violation{{Pointer: "/artifact", Rule: "not_own",
			Message: "must not be given anew: what is promoted has one, " +
				"and the artifact is not among the instance's own inputs"}}, nil
	case p.Artifact != nil || p.version.Kind != ecs.Type:
		return nil, nil
	case isOwn && live != nil:
		p.Artifact, err = s.Releases.ArtifactOf(ctx, live)
	case !isOwn:
		p.Artifact, err = s.Releases.ArtifactOf(ctx, p.promoted)
	}
	return nil, err
}
