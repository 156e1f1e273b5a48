package deployment

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/event"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/textrules"
)

const (
	// DefaultCancelTimeout is how long a program may take to end once its cancellation was requested, where
	// Service.CancelTimeout is 0.
	DefaultCancelTimeout = 15 * time.Minute
	// afterKill is how much longer the lease may be renewed: until the end of a killed program was told.
	afterKill = time.Minute
	// forceAfter is how long after the request a deployment may be canceled by force.
	forceAfter = 2 * time.Minute
)

// Complete ends a RUNNING deployment: SUCCEEDED, which makes it the instance's live one, or FAILED where
// a failure is given; also where its cancellation was requested, for what happened wins. The same outcome under
// the same lease again changes nothing. It gives DeploymentNotFound, DeploymentForbidden, DeploymentLeaseLost and
// RequestInvalid.
func (s *Service) Complete(ctx context.Context, deploymentID, leaseID string, failure *fault.Data) (*ent.Deployment, error) {
	if failure != nil {
		return s.finish(ctx, deploymentID, leaseID, ending{deployment.StatusFAILED, failure})
	}
	return s.finish(ctx, deploymentID, leaseID, ending{status: deployment.StatusSUCCEEDED})
}

// CompleteCanceled ends a RUNNING deployment whose program ended because its cancellation was requested: CANCELED,
// with what the program said last, or nil. It gives the errors of Complete, and DeploymentWrongState where nobody
// has requested it.
func (s *Service) CompleteCanceled(ctx context.Context, deploymentID, leaseID string, lastWords *fault.Data) (*ent.Deployment, error) {
	return s.finish(ctx, deploymentID, leaseID, ending{deployment.StatusCANCELED, lastWords})
}

// ending is how a runner says that a deployment has ended.
type ending struct {
	status deployment.Status
	// words are why it failed, or what its program said last before it was canceled; nil for nothing.
	words *fault.Data
}

func (s *Service) finish(ctx context.Context, deploymentID, leaseID string, how ending) (*ent.Deployment, error) {
	return s.change(ctx, "completeDeployment", access.RunDeployments, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if e.Silent = how.was(d, leaseID); e.Silent {
				return nil
			}
			if err := s.checkHeld(ctx, tx, d, leaseID, e.Shared); err != nil {
				return err
			}
			if violations := how.check(); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}
			e.Changes = map[string]any{"status": how.status}
			switch how.status {
			case deployment.StatusCANCELED:
				if d.CancelRequestedAt == nil {
					return wrongState(d, "completed as canceled", "nobody has requested that")
				}
				end(u, how.status, e.At, canceled(*d.CancelRequestedBy, how.words))
			case deployment.StatusFAILED:
				end(u, how.status, e.At, how.words)
			default:
				end(u, how.status, e.At, nil)
				return s.goLive(ctx, tx, d, e.At)
			}
			return nil
		})
}

// was reports whether the deployment has ended so under the lease before: the answer was lost.
func (how ending) was(d *ent.Deployment, leaseID string) bool {
	switch {
	case d.LeaseID == nil || *d.LeaseID != leaseID || d.Status != how.status:
		return false
	case how.status == deployment.StatusFAILED:
		return d.Error != nil && d.Error.Code == how.words.Code
	case how.status == deployment.StatusCANCELED:
		return !d.Forced
	}
	return true
}

// check bounds what is told of an end. A program may say it, so its characters are left as they are.
func (how ending) check() []fault.Violation {
	if how.words == nil {
		return nil
	}
	violations := textrules.Length("/error/message", how.words.Message, event.MaxText)
	return append(violations, textrules.Length("/error/description", how.words.Description, textrules.MaxDescription)...)
}

// goLive makes a deployment that succeeded the live one of its instance.
func (s *Service) goLive(ctx context.Context, tx *ent.Tx, d *ent.Deployment, at time.Time) error {
	instance, err := tx.ModuleInstance.Get(ctx, d.ModuleInstanceID)
	if err != nil {
		return err
	}
	if err := s.Inputs.Remember(ctx, tx, d, instance.LiveDeploymentID, at); err != nil {
		return err
	}
	return tx.ModuleInstance.UpdateOneID(d.ModuleInstanceID).
		SetLiveDeploymentID(d.ID).ClearForcedDeploymentID().SetUpdatedAt(at).Exec(ctx)
}

const cancelAction = "cancelDeployment"

// Cancel ends a deployment as CANCELED where no program is at work on it: one that is PENDING, or RUNNING without a
// lease. Of another that is RUNNING it requests that its program end; until then it stays active, because two
// programs of one instance must never run side by side. The same request again changes nothing. It gives
// DeploymentNotFound, DeploymentForbidden and DeploymentWrongState.
func (s *Service) Cancel(ctx context.Context, deploymentID string) (*ent.Deployment, error) {
	return s.change(ctx, cancelAction, access.Deploy, deploymentID,
		func(ctx context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			by := actor.From(ctx).Name
			if idle, err := endIdle(d, u, e, by); idle || err != nil {
				return err
			}
			if e.Silent = d.CancelRequestedAt != nil; !e.Silent {
				u.SetCancelRequestedAt(e.Shared).SetCancelRequestedBy(by)
				e.Changes = map[string]any{"cancelRequestedAt": e.Shared, "cancelRequestedBy": by}
			}
			return nil
		})
}

// ForceCancel ends a deployment as CANCELED although its program may still be at work, from two minutes after its
// cancellation was requested. The instance remembers it until a deployment succeeds. It gives the errors of Cancel.
func (s *Service) ForceCancel(ctx context.Context, deploymentID string) (*ent.Deployment, error) {
	return s.change(ctx, cancelAction, access.ForceCancel, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			by := actor.From(ctx).Name
			if idle, err := endIdle(d, u, e, by); idle || err != nil {
				return err
			}
			if err := checkForce(d, e.Shared); err != nil {
				return err
			}
			why := canceled(by, nil)
			why.Message = fmt.Sprintf("Canceled by %s by force: its program was not known to have ended.", by)
			why.Description = unknownExtent
			end(u, deployment.StatusCANCELED, e.At, why)
			u.SetForced(true)
			e.Changes = map[string]any{"status": deployment.StatusCANCELED, "forced": true}
			return tx.ModuleInstance.UpdateOneID(d.ModuleInstanceID).SetForcedDeploymentID(d.ID).SetUpdatedAt(e.At).Exec(ctx)
		})
}

// endIdle ends a deployment on which no program is at work, and reports whether it is one.
func endIdle(d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry, by string) (bool, error) {
	if err := inState(d, "canceled", deployment.StatusPENDING, deployment.StatusRUNNING); err != nil {
		return false, err
	}
	if d.LeaseExpiresAt != nil {
		return false, nil
	}
	end(u, deployment.StatusCANCELED, e.At, canceled(by, nil))
	e.Changes = map[string]any{"status": deployment.StatusCANCELED}
	return true, nil
}

// checkForce refuses force before the program had time to end by itself.
func checkForce(d *ent.Deployment, at time.Time) error {
	if d.CancelRequestedAt == nil {
		return wrongState(d, "canceled by force", "its cancellation was not requested before; request it without force, and repeat this 2 minutes later")
	}
	if from := d.CancelRequestedAt.Add(forceAfter); at.Before(from) {
		f := wrongState(d, "canceled by force",
			fmt.Sprintf("its program has 2 minutes to end by itself, until %s", from.UTC().Format(time.RFC3339)))
		f.Metadata["forceFrom"] = from.UTC().Format(time.RFC3339Nano)
		return f
	}
	return nil
}

// unknownExtent describes an end that nobody has seen.
const unknownExtent = "How far it got is not known. See what was changed before it is deployed again."

// canceled is why a deployment ended that somebody canceled, with what its program said last, or nil.
func canceled(by string, lastWords *fault.Data) *fault.Data {
	why := &fault.Data{Code: string(fault.DeploymentCanceled), Message: fmt.Sprintf("Canceled by %s.", by)}
	if lastWords == nil {
		return why
	}
	words := fault.Section{Title: "Last words of the program", Render: fault.RenderList, Items: []string{lastWords.Message}}
	if lastWords.Description != "" {
		words.Items = append(words.Items, lastWords.Description)
	}
	why.Details = []fault.Section{words}
	return why
}

// end lets an update end a deployment. Its lease stays known, so that its runner can be told.
func end(u *ent.DeploymentUpdateOne, status deployment.Status, at time.Time, why *fault.Data) {
	u.SetStatus(status).SetCompletedAt(at).ClearLeaseExpiresAt()
	if why != nil {
		u.SetError(why)
	}
}

// killedAt returns when the program of a deployment whose cancellation was requested is to be killed.
func (s *Service) killedAt(d *ent.Deployment) time.Time {
	if s.CancelTimeout > 0 {
		return d.CancelRequestedAt.Add(s.CancelTimeout)
	}
	return d.CancelRequestedAt.Add(DefaultCancelTimeout)
}
