package deployment

import (
	"cmp"
	"context"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/journal"
	"slipway/internal/optional"
	"slipway/internal/record"
	"slipway/internal/store"
)

// proposeCreation returns what a prepared deployment comes to at a time. It fails with journal.ErrChanged if what its values
// were validated against has changed.
func (s *Service) proposeCreation(ctx context.Context, tx *ent.Tx, p *prepared, deploymentID, releaseID string, at time.Time) (*proposal, error) {
	made := &proposal{
		operation: p.from.operation(), request: p.from.planned, instanceID: p.instance.ID, live: p.live,
		place:  actor.Place{ProjectID: p.instance.ProjectID, EnvironmentID: p.instance.EnvironmentID},
		digest: p.sealed.Digest, content: p.sealed.JSON, references: p.readReferences(),
	}
	instance, err := s.instanceNow(ctx, tx, p, made)
	if err != nil {
		return made, err
	}
	if optional.OrZero(instance.LiveDeploymentID) != p.live {
		return made, journal.ErrChanged // the values were validated against another live deployment
	}
	made.warnings = append(concernsOf(instance).warnings("/moduleInstanceId"), p.warnings...)

	made.facts = gate.Facts{Operation: made.operation}
	stands := standing{instanceID: instance.ID, archivedAt: instance.ArchivedAt}
	if p.promoted != nil {
		if made.facts.Stay, err = s.stayOf(ctx, tx, made.rules, &p.promoted.ID); err != nil {
			return made, err
		}
		stands.promotedFrom = p.promoted.ID
		if stands.promoted, err = s.reputationOf(ctx, tx, p.promoted.ID); err != nil {
			return made, err
		}
	}
	if p.data != nil {
		if p.data.PreviousTaskDefinition, err = taskDefinitionOf(ctx, tx, instance.LiveDeploymentID); err != nil {
			return made, err
		}
	}
	if stands.known, err = findRelease(ctx, tx, made.digest); err != nil {
		return made, err
	}
	made.refusal = cmp.Or(p.forbidden, stands.refusal(replayMode{}, at))
	if q := cmp.Or(stands.known.quarantine(at), stands.promoted.quarantine(at)); q != nil {
		made.quarantine = q.ID
	}

	if stands.known.releaseID != "" {
		releaseID = stands.known.releaseID
	} else {
		made.before = func(ctx context.Context, tx *ent.Tx, e *journal.Entry) error {
			return insertRelease(ctx, tx, e, releaseID, p.version, p.sealed)
		}
	}
	made.created, made.changes = p.deployment(actor.From(ctx), deploymentID, releaseID), p.changes(releaseID)
	made.after = func(ctx context.Context, tx *ent.Tx, _ *journal.Entry) error {
		return s.insertGiven(ctx, tx, made.created, p)
	}
	return made, nil
}

// deployment returns the deployment of a release as it would be inserted for an actor.
func (p *prepared) deployment(a *actor.Actor, deploymentID, releaseID string) *ent.Deployment {
	d := &ent.Deployment{
		ID: deploymentID, ProjectID: p.instance.ProjectID, EnvironmentID: p.instance.EnvironmentID,
		ModuleInstanceID: p.instance.ID, ReleaseID: &releaseID,
		DeploymentType: p.version.Kind, TriggerSource: p.from.triggerSource(),
		Description: p.Description, Reason: p.Reason, CreatedBy: a.Name, CreatedByID: optional.NonZero(a.PrincipalID),
		PipelineRunID: p.PipelineRunID, StepExecutionID: p.StepExecutionID,
		ResourceArn: p.ResourceARN, ResourceName: p.ResourceName,
		GivenFrom: &deploymentID, Data: p.data.Column(), ServiceArn: serviceOf(p.data),
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
		changes["inputsFrom"] = *p.InputsFrom
	}
	return changes
}

// instanceNow reads the instance again, in a transaction while nothing is archived, and in the same statement the instances
// that the values choose. It notes in the proposal what else is there: the rules, what is in progress and how many wait. It
// fails with ModuleInstanceNotFound, and with journal.ErrChanged where one of those is archived, about to be destroyed or gone
// since the values were validated, or the instance keeps other inputs of its own from promotions.
func (s *Service) instanceNow(ctx context.Context, tx *ent.Tx, p *prepared, made *proposal) (*ent.ModuleInstance, error) {
	ids := []string{p.instance.ID}
	for _, r := range p.references {
		ids = append(ids, r.InstanceID)
	}
	q := tx.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...))
	q.Modify(s.selectControl(p.instance.ID))
	list, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	now := record.ByKey(list, func(i *ent.ModuleInstance) string { return i.ID })
	instance := now[p.instance.ID]
	if instance == nil {
		return nil, store.NotFound(p.instance.ID, fault.ModuleInstanceNotFound)
	}
	if err := s.readControl(ctx, tx, instance, made); err != nil {
		return nil, err
	}
	if p.promoted != nil && !slices.Equal(instance.OwnInputs, p.instance.OwnInputs) {
		return nil, journal.ErrChanged
	}
	for _, r := range p.references {
		if chosen := now[r.InstanceID]; chosen == nil || (chosen.ArchivedAt != nil) != (r.ArchivedAt != nil) || (chosen.LiveDeploymentID == nil) != (r.LiveDeploymentID == nil) {
			return nil, journal.ErrChanged
		}
	}
	if len(p.references) > 0 {
		destroyed, err := tx.Deployment.Query().Where(deployment.ModuleInstanceIDIn(ids[1:]...), isDestroying).Exist(ctx)
		if err == nil && destroyed {
			err = journal.ErrChanged
		}
		if err != nil {
			return nil, err
		}
	}
	return instance, nil
}

// checkNotArchived returns why nothing is deployed to an instance that was archived at a time, nil where it was not.
func checkNotArchived(instanceID string, at *time.Time) error {
	if at == nil {
		return nil
	}
	f := fault.New(fault.ModuleInstanceArchived, "The module instance %s is archived since %s, or what it is in.", instanceID, at.UTC().Format(time.RFC3339))
	f.Metadata = map[string]any{"moduleInstanceId": instanceID, "archivedAt": at.UTC().Format(time.RFC3339Nano)}
	return f
}

// taskDefinitionOf returns the task definition that a deployment has shipped, nil where it has none or there is no
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
func (p *prepared) readReferences() []readReference {
	list := make([]readReference, len(p.references))
	for i, r := range p.references {
		list[i] = readReference{r.Pointer, r.InstanceID, optional.OrZero(r.LiveDeploymentID)}
	}
	return list
}
