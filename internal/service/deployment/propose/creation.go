package propose

import (
	"cmp"
	"context"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// proposeCreation returns what a prepared deployment comes to at a time. It fails with journal.ErrChanged if what its
// values were validated against has changed.
func (s *Service) proposeCreation(
	ctx context.Context, tx *ent.Tx, p *prepared, deploymentID, releaseID string, at time.Time,
) (*admission.Proposal, error) {
	made := &admission.Proposal{
		Operation: p.from.operation(), Request: p.from.planned, InstanceID: p.instance.ID, Live: p.live,
		Place:  actor.Place{ProjectID: p.instance.ProjectID, EnvironmentID: p.instance.EnvironmentID},
		Digest: p.sealed.Digest, Content: p.sealed.JSON, References: p.readReferences(),
	}
	instance, err := s.instanceNow(ctx, tx, p, made)
	if err != nil {
		return made, err
	}
	if optional.OrZero(instance.LiveDeploymentID) != p.live {
		return made, journal.ErrChanged // the values were validated against another live deployment
	}
	made.Warnings = append(state.ConcernsOf(instance).Warnings("/moduleInstanceId"), p.warnings...)

	made.Facts = gate.Facts{Operation: made.Operation}
	stands := admission.Standing{InstanceID: instance.ID, ArchivedAt: instance.ArchivedAt}
	if p.promoted != nil {
		if made.Facts.Stay, err = s.Admission.StayOf(ctx, tx, made.Rules, &p.promoted.ID); err != nil {
			return made, err
		}
		stands.PromotedFrom = p.promoted.ID
		if stands.Promoted, err = s.Releases.ReputationOf(ctx, tx, p.promoted.ID); err != nil {
			return made, err
		}
	}
	if p.data != nil {
		if p.data.PreviousTaskDefinition, err = taskDefinitionOf(ctx, tx, instance.LiveDeploymentID); err != nil {
			return made, err
		}
	}
	if stands.Known, err = releases.FindRelease(ctx, tx, made.Digest); err != nil {
		return made, err
	}
	made.Refusal = cmp.Or(p.forbidden, stands.Refusal(admission.Mode{}, at))
	if q := cmp.Or(stands.Known.Quarantine(at), stands.Promoted.Quarantine(at)); q != nil {
		made.Quarantine = q.ID
	}

	if stands.Known.ReleaseID != "" {
		releaseID = stands.Known.ReleaseID
	} else {
		made.Before = func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			return releases.InsertRelease(ctx, tx, e, releaseID, p.version, p.sealed)
		}
	}
	made.Created, made.Changes = p.deployment(actor.From(ctx), deploymentID, releaseID), p.changes(releaseID)
	made.After = func(ctx context.Context, tx *ent.Tx, _ *journal.Entry) error {
		return s.insertGiven(ctx, tx, made.Created, p)
	}
	return made, nil
}

// deployment returns the deployment of a release as it would be inserted for an actor.
func (p *prepared) deployment(a *actor.Actor, deploymentID, releaseID string) *ent.Deployment {
	d := &ent.Deployment{
		ID: deploymentID, ProjectID: p.instance.ProjectID, EnvironmentID: p.instance.EnvironmentID,
		ModuleInstanceID: p.instance.ID, ReleaseID: &releaseID,
		ModuleDefinitionID: &p.instance.ModuleDefinitionID, ModuleVersionID: &p.version.ID,
		DeploymentType: p.version.Kind, TriggerSource: p.from.triggerSource(),
		Description: p.Description, Reason: p.Reason, CreatedBy: a.Name, CreatedByID: optional.NonZero(a.PrincipalID),
		CreatedByActor: optional.NonZero(a.ID),
		PipelineRunID:  p.PipelineRunID, StepExecutionID: p.StepExecutionID,
		ResourceArn: p.ResourceARN, ResourceName: p.ResourceName,
		GivenFrom: &deploymentID, Data: p.data.Column(), ServiceArn: state.ServiceOf(p.data),
	}
	if p.promoted != nil {
		d.PromotedFrom = &p.promoted.ID
	}
	return d
}

// changes returns what the audit has of the deployment of a release.
func (p *prepared) changes(releaseID string) map[string]any {
	changes := map[string]any{"moduleInstanceId": p.instance.ID, "releaseId": releaseID}
	switch {
	case p.promoted != nil:
		changes["promotedFrom"] = p.promoted.ID
	case p.InputsFrom != nil:
		changes["inputsFromDeploymentId"] = *p.InputsFrom
	}
	return changes
}

// instanceNow reads the instance again, in a transaction while nothing is archived, and in the same statement the
// instances that the values choose. It notes in the proposal what else is there: the rules, what is in progress and how
// many wait. It fails with ModuleInstanceNotFound, and with journal.ErrChanged if one of those is archived, about to
// be destroyed or gone since the values were validated, or the instance keeps other inputs of its own from promotions.
func (s *Service) instanceNow(
	ctx context.Context, tx *ent.Tx, p *prepared, made *admission.Proposal,
) (*ent.ModuleInstance, error) {
	ids := []string{p.instance.ID}
	for _, r := range p.references {
		ids = append(ids, r.InstanceID)
	}

	q := tx.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...))
	q.Modify(s.Admission.SelectControl(p.instance.ID))
	list, err := q.All(ctx)
	if err != nil {
		return nil, err
	}

	now := record.ByKey(list, func(i *ent.ModuleInstance) string { return i.ID })
	instance := now[p.instance.ID]
	if instance == nil {
		return nil, store.NotFound(p.instance.ID, fault.ModuleInstanceNotFound)
	}
	if err := s.Admission.ReadControl(ctx, tx, instance, made); err != nil {
		return nil, err
	}
	if p.promoted != nil && !slices.Equal(instance.OwnInputs, p.instance.OwnInputs) {
		return nil, journal.ErrChanged
	}

	for _, r := range p.references {
		if chosen := now[r.InstanceID]; chosen == nil || (chosen.ArchivedAt != nil) != (r.ArchivedAt != nil) ||
			(chosen.LiveDeploymentID == nil) != (r.LiveDeploymentID == nil) {
			return nil, journal.ErrChanged
		}
	}

	if len(p.references) > 0 {
		destroyed, err := tx.Deployment.Query().Where(deployment.ModuleInstanceIDIn(ids[1:]...), state.IsDestroying).
			Exist(ctx)
		if err == nil && destroyed {
			err = journal.ErrChanged
		}
		if err != nil {
			return nil, err
		}
	}

	return instance, nil
}

// taskDefinitionOf returns the task definition that a deployment has shipped, nil if it has none or there is no
// deployment.
func taskDefinitionOf(ctx context.Context, tx *ent.Tx, deploymentID *string) (*ecs.TaskDefinition, error) {
	if deploymentID == nil {
		return nil, nil
	}
	d, err := tx.Deployment.Get(ctx, *deploymentID)
	if err != nil {
		return nil, err
	}
	return d.Data.DeployedTaskDefinition()
}

// readReferences returns the references as a plan has them.
func (p *prepared) readReferences() []admission.ReadReference {
	list := make([]admission.ReadReference, len(p.references))
	for i, r := range p.references {
		list[i] = admission.ReadReference{
			Pointer: r.Pointer, InstanceID: r.InstanceID, LiveID: optional.OrZero(r.LiveDeploymentID),
		}
	}
	return list
}
