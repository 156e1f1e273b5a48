package propose

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/data/store"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/dependency"
	"slipway/internal/service/deployment/admission"
)

// Destroy asks for a deployment that removes what is live of an instance.
type Destroy struct {
	InstanceID string
	// AcknowledgeDependents is whether the caller knows that others refer to the instance.
	AcknowledgeDependents bool
	admission.Request
}

// arguments are all that decides what is created.
func (in Destroy) arguments() []any {
	return in.Control.AppendTo([]any{in.InstanceID, in.ExpectedLiveID, in.Reason, in.AcknowledgeDependents})
}

// planned are the arguments as far as they decide what is made.
func (in Destroy) planned() []any {
	in.Request = in.Request.Planned()
	return in.arguments()
}

// Destroy creates a deployment that ships the live release of an instance, to have its program remove what that made.
// It fails with ModuleInstanceNotFound, ModuleInstanceForbidden, ModuleInstanceNothingLive, ModuleInstanceInUse,
// RequestInvalid, and the errors of Rollback about the release, the service, the active deployment and the expected
// one.
func (s *Service) Destroy(ctx context.Context, in Destroy) (*ent.Deployment, []inputprop.Warning, error) {
	return s.make(ctx, s.destruction(in))
}

// destruction returns the intent of a destroy, which looks at what there is while nothing else is created in the
// organization.
func (s *Service) destruction(in Destroy) intent {
	deploymentID := s.Journal.NewID(id.Deployment)
	return intent{
		Request: in.Request, action: admission.Destroy.Action, deploymentID: deploymentID,
		forbidden: fault.ModuleInstanceForbidden, lock: store.StoppingCreation, arguments: in.arguments,
		prepare: func(context.Context, bool) (proposeFunc, *ent.Deployment, error) {
			if violations := in.Request.Check(); len(violations) > 0 {
				return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
			}
			return func(ctx context.Context, tx *ent.Tx, at time.Time) (*admission.Proposal, error) {
				return s.proposeDestroy(ctx, tx, in, deploymentID, at)
			}, nil, nil
		},
	}
}

// proposeDestroy returns what a destroy comes to at a time: it is a replay of what is live.
func (s *Service) proposeDestroy(
	ctx context.Context, tx *ent.Tx, in Destroy, deploymentID string, at time.Time,
) (*admission.Proposal, error) {
	instance, err := store.Find(ctx, tx.ModuleInstance.Get, id.ModuleInstance, in.InstanceID, fault.ModuleInstanceNotFound)
	if err != nil {
		return &admission.Proposal{}, err
	}
	if instance.LiveDeploymentID == nil {
		return &admission.Proposal{InstanceID: instance.ID}, admission.CheckDestroyable(actor.From(ctx), instance)
	}

	p, err := s.ReplayProposal(
		ctx, tx, admission.Destroy,
		Replay{SourceID: *instance.LiveDeploymentID, Request: admission.Request{Reason: in.Reason}}, deploymentID, at,
	)
	if err != nil {
		return p, err
	}

	p.Request = in.planned
	if p.Refusal == nil && !in.AcknowledgeDependents {
		switch err := dependency.CheckUnused(ctx, s.Store, tx, []string{instance.ID}); {
		case fault.Is(err, fault.ModuleInstanceInUse):
			p.Refusal = err
		case err != nil:
			return p, err
		}
	}

	if p.Created == nil {
		return p, nil
	}
	p.Created.GivenFrom, p.Created.PromotedFrom, p.Created.AcknowledgesDependents = nil, nil, in.AcknowledgeDependents
	p.Changes = map[string]any{
		"moduleInstanceId": instance.ID, "releaseId": p.Created.ReleaseID, "reason": in.Reason,
		"acknowledgeDependents": in.AcknowledgeDependents,
	}

	return p, nil
}
