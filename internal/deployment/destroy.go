package deployment

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/dependency"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/id"
	"slipway/internal/journal"
	"slipway/internal/record"
	"slipway/internal/store"
)

// Action is what the program of a deployment is to do.
type Action string

// The actions.
const (
	Apply         Action = "APPLY"
	DestroyAction Action = "DESTROY"
)

// ActionOf returns what the program of a deployment is to do, by what started that.
func ActionOf(triggerSource string) Action {
	if triggerSource == TriggerDestroy {
		return DestroyAction
	}
	return Apply
}

// Destroy asks for a deployment that removes what is live of an instance.
type Destroy struct {
	InstanceID string
	// AcknowledgeDependents is whether the caller knows that others refer to the instance.
	AcknowledgeDependents bool
	Request
}

// arguments are all that decides what is created.
func (in Destroy) arguments() []any {
	return in.Control.appendTo([]any{in.InstanceID, in.ExpectedLiveID, in.Reason, in.AcknowledgeDependents})
}

// planned are the arguments as far as they decide what is made.
func (in Destroy) planned() []any {
	in.Request = in.Request.planned()
	return in.arguments()
}

// destroy is how a destroy goes by the rules of replays: it is one of what is live, and of a release in quarantine, too.
var destroy = replayMode{
	action:           "destroyModuleInstance",
	operation:        gate.Destroy,
	trigger:          TriggerDestroy,
	verb:             "Destroy of",
	permission:       access.DestroyInstance,
	forbidden:        fault.ModuleInstanceForbidden,
	shipsQuarantined: true,
	check:            func(*source) error { return nil },
	setSource:        func(*ent.Deployment, string) {},
	sourceField:      "liveDeploymentId",
}

// Destroy creates a deployment that ships the live release of an instance, to have its program remove what that made. It
// fails with ModuleInstanceNotFound, ModuleInstanceForbidden, ModuleInstanceNothingLive, ModuleInstanceInUse, RequestInvalid, and the errors of
// Rollback about the release, the service, the active deployment and the expected one.
func (s *Service) Destroy(ctx context.Context, in Destroy) (*ent.Deployment, error) {
	d, _, err := s.make(ctx, s.destruction(in))
	return d, err
}

// destruction returns the intent of a destroy, which looks at what there is while nothing else is created in the organization.
func (s *Service) destruction(in Destroy) intent {
	deploymentID := s.Journal.NewID(id.Deployment)
	return intent{
		Request: in.Request, action: destroy.action, deploymentID: deploymentID, forbidden: fault.ModuleInstanceForbidden, lock: store.StoppingCreation, arguments: in.arguments,
		prepare: func(context.Context, bool) (proposeFunc, *ent.Deployment, error) {
			if violations := in.Request.check(); len(violations) > 0 {
				return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
			}
			return func(ctx context.Context, tx *ent.Tx, at time.Time) (*proposal, error) {
				return s.proposeDestroy(ctx, tx, in, deploymentID, at)
			}, nil, nil
		},
	}
}

// proposeDestroy returns what a destroy comes to at a time: it is a replay of what is live.
func (s *Service) proposeDestroy(ctx context.Context, tx *ent.Tx, in Destroy, deploymentID string, at time.Time) (*proposal, error) {
	instance, err := store.Find(ctx, tx.ModuleInstance.Get, id.ModuleInstance, in.InstanceID, fault.ModuleInstanceNotFound)
	if err != nil {
		return &proposal{}, err
	}
	if instance.LiveDeploymentID == nil {
		return &proposal{instanceID: instance.ID}, checkDestroyable(actor.From(ctx), instance)
	}
	p, err := s.proposeReplay(ctx, tx, destroy, Replay{SourceID: *instance.LiveDeploymentID, Request: Request{Reason: in.Reason}}, deploymentID, at)
	if err != nil {
		return p, err
	}
	p.request, p.warnings = in.planned, concernsOf(instance).warnings("/id")
	if p.refusal == nil && !in.AcknowledgeDependents {
		switch err := dependency.CheckUnused(ctx, s.Store, tx, []string{instance.ID}); {
		case fault.Is(err, fault.ModuleInstanceInUse):
			p.refusal = err
		case err != nil:
			return p, err
		}
	}
	if p.created == nil {
		return p, nil
	}
	p.created.GivenFrom, p.created.PromotedFrom, p.created.AcknowledgesDependents = nil, nil, in.AcknowledgeDependents
	p.changes = map[string]any{
		"moduleInstanceId": instance.ID, "releaseId": p.created.ReleaseID, "reason": in.Reason,
		"acknowledgeDependents": in.AcknowledgeDependents,
	}
	return p, nil
}

// checkDestroyable returns why an actor may not destroy an instance, as far as that does not depend on what is live.
func checkDestroyable(a *actor.Actor, i *ent.ModuleInstance) error {
	place := actor.Place{ProjectID: i.ProjectID, EnvironmentID: i.EnvironmentID}
	if err := access.CheckIn(a, access.DestroyInstance, place, fault.ModuleInstanceForbidden); err != nil {
		return err
	}
	if i.LiveDeploymentID == nil {
		return fault.New(fault.ModuleInstanceNothingLive, "The module instance %s cannot be destroyed: nothing of it is live.", i.ID)
	}
	return nil
}

// DestroyEligibilities returns, for each instance of the ids that there is, whether the actor could destroy it now. Destroy
// makes the same check. It takes as many statements however many ids there are.
func (s *Service) DestroyEligibilities(ctx context.Context, ids []string) (map[string]*Eligibility, error) {
	instances, err := s.Store.Client.ModuleInstance.Query().Where(moduleinstance.IDIn(ids...)).All(ctx)
	if err != nil {
		return nil, err
	}
	var live []string
	for _, i := range instances {
		if i.LiveDeploymentID != nil {
			live = append(live, *i.LiveDeploymentID)
		}
	}
	list, err := s.readSources(ctx, s.Store.Query, live)
	if err != nil {
		return nil, err
	}
	check, err := s.newEligibilityCheck(ctx, list, destroy)
	if err != nil {
		return nil, err
	}
	if err := check.readRules(ctx, list); err != nil {
		return nil, err
	}
	dependents, err := dependency.In(s.Store).Of(ctx, ids)
	if err != nil {
		return nil, err
	}
	sources := record.ByKey(list, func(from *source) string { return from.ID })
	of := make(map[string]*Eligibility, len(instances))
	for _, i := range instances {
		var from *source
		err := checkDestroyable(check.actor, i)
		if err == nil {
			if from = sources[*i.LiveDeploymentID]; from == nil {
				continue // it is another by now
			}
			if err = dependency.Refusal(i.ID, dependents[i.ID]); err == nil {
				err = s.checkReplayable(check.actor, destroy, from, func() error { return check.prove(from) }, check.at)
			}
		}
		if of[i.ID], err = check.judged(ctx, destroy, from, concernsOf(i), err); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// isDestroying is that a deployment is active and destroys.
func isDestroying(s *sql.Selector) {
	store.IsInProgress(s)
	s.Where(sql.EQ(s.C(deployment.FieldTriggerSource), TriggerDestroy))
}

// settleDestroy notes on its instance how a destroy ends, where an update ends one. What a runner has claimed may have removed
// some of what is live, unless it has succeeded, which removes it all.
func (s *Service) settleDestroy(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
	status, changes := u.Mutation().Status()
	if !changes || d.TriggerSource != TriggerDestroy || d.StartedAt == nil {
		return nil
	}
	if status == deployment.StatusSUCCEEDED {
		if err := s.supersede(ctx, tx, e, d); err != nil {
			return err
		}
	}
	instance, err := lockInstance(ctx, s.Store, tx, d.ModuleInstanceID)
	if err != nil {
		return err
	}
	if status == deployment.StatusSUCCEEDED {
		if err := s.Inputs.ForgetBaseline(ctx, tx, d, e.At); err != nil {
			return err
		}
		var none *Drift
		return none.set(instance.Update()).ClearLiveDeploymentID().SetDestroyedAt(e.At).ClearForcedDeploymentID().SetUpdatedAt(e.At).Exec(ctx)
	}
	drift := &Drift{
		Kind: moduleinstance.DriftKindDESTROY_FAILED, Since: e.At, DeploymentID: d.ID,
		Message: fmt.Sprintf("The deployment %s, which was to destroy it, has ended as %s. %s", d.ID, status, unknownOutcome),
	}
	return drift.set(instance.Update()).SetUpdatedAt(e.At).Exec(ctx)
}
