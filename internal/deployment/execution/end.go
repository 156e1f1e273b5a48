package execution

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/deployment/state"
	"slipway/internal/event"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/strictjson"
	"slipway/internal/textrules"
)

const (
	// DefaultCancelTimeout is how long a program may take to end once its cancellation was requested, where
	// Service.CancelTimeout is 0.
	DefaultCancelTimeout = 15 * time.Minute
	// renewAfterKill is how much longer the lease may be renewed: the runner still has to report that the program
	// was killed.
	renewAfterKill = time.Minute
	// forceAfter is how long after the request a deployment may be canceled by force.
	forceAfter = 2 * time.Minute
)

// Completion is the end of a deployment as its runner reports it.
type Completion struct {
	// Failure is why it failed, or what its program said last before it was canceled; nil for nothing.
	Failure *fault.Data
	// Canceled is whether its program ended because its cancellation was requested.
	Canceled bool
	// Outputs are what it has made, an object by names; nil for none. Only one that succeeded has any.
	Outputs *strictjson.Node
}

// End ends a RUNNING deployment: SUCCEEDED, which makes it the instance's live one, or FAILED where a failure is given;
// also where its cancellation was requested, for what happened wins. It is CANCELED where the completion says so. The same
// outcome under the same lease again changes nothing. It fails with DeploymentNotFound, DeploymentForbidden,
// DeploymentLeaseLost and RequestInvalid, and DeploymentWrongState where it is canceled and nobody has requested that.
//
// What the cloud is known to have rolled back is no success: it is FAILED with DeploymentRolledBack, is not live and has no
// outputs.
func (s *Service) End(ctx context.Context, deploymentID, leaseID string, c Completion) (*ent.Deployment, error) {
	o := outcome{deployment.StatusSUCCEEDED, c.Failure, c.Outputs}
	switch {
	case c.Canceled:
		o.status = deployment.StatusCANCELED
	case c.Failure != nil:
		o.status = deployment.StatusFAILED
	}
	return s.complete(ctx, deploymentID, leaseID, o)
}

// Complete is End without outputs: SUCCEEDED, or FAILED where a failure is given.
func (s *Service) Complete(ctx context.Context, deploymentID, leaseID string, failure *fault.Data) (*ent.Deployment, error) {
	return s.End(ctx, deploymentID, leaseID, Completion{Failure: failure})
}

// CompleteCanceled is End of a deployment that was canceled, with what its program said last, or nil.
func (s *Service) CompleteCanceled(ctx context.Context, deploymentID, leaseID string, lastError *fault.Data) (*ent.Deployment, error) {
	return s.End(ctx, deploymentID, leaseID, Completion{Failure: lastError, Canceled: true})
}

// outcome is the end of a deployment as its runner reports it.
type outcome struct {
	status deployment.Status
	// reason is why it failed, or what its program said last before it was canceled; nil for nothing.
	reason *fault.Data
	// outputs are what it has made; nil for none.
	outputs *strictjson.Node
}

func (s *Service) complete(ctx context.Context, deploymentID, leaseID string, o outcome) (*ent.Deployment, error) {
	return s.carryOut(ctx, "completeDeployment", access.RunDeployments, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if e.SkipAudit = o.isAlreadyRecorded(d, leaseID); e.SkipAudit {
				return nil
			}
			if err := s.checkHeld(ctx, tx, d, leaseID, e.Shared()); err != nil {
				return err
			}
			if violations := o.check(); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}
			e.Changes = map[string]any{"status": o.status}
			switch o.status {
			case deployment.StatusCANCELED:
				if d.CancelRequestedAt == nil {
					return state.WrongState(d, "completed as canceled", "nobody has requested that")
				}
				state.SetEnded(u, o.status, e.At, canceledError(*d.CancelRequestedBy, o.reason))
			case deployment.StatusFAILED:
				state.SetEnded(u, o.status, e.At, o.reason)
			case deployment.StatusSUCCEEDED:
				if back := d.Setbacks.Last(); back != nil {
					e.Changes = map[string]any{"status": deployment.StatusFAILED}
					state.SetEnded(u, deployment.StatusFAILED, e.At, state.RolledBack(back))
					return nil
				}
				state.SetEnded(u, o.status, e.At, nil)
				if d.TriggerSource == state.TriggerDestroy {
					return refuseOutputs(o.outputs)
				}
				u.SetLiveSince(e.Shared().Truncate(time.Microsecond))
				version, err := s.goLive(ctx, tx, e, d)
				if err != nil {
					return err
				}
				return keepOutputs(ctx, tx, d, u, version, o.outputs, e.At)
			case deployment.StatusAWAITING_APPROVAL, deployment.StatusPENDING, deployment.StatusRUNNING:
				return fmt.Errorf("deployment: %s is no end", o.status)
			}
			return nil
		})
}

// isAlreadyRecorded reports whether the deployment has ended so under the lease before: the answer was lost.
func (o outcome) isAlreadyRecorded(d *ent.Deployment, leaseID string) bool {
	switch {
	case d.LeaseID == nil || *d.LeaseID != leaseID:
		return false
	case o.status == deployment.StatusSUCCEEDED && d.Status == deployment.StatusFAILED:
		return d.Error != nil && d.Error.Code == string(fault.DeploymentRolledBack)
	case d.Status != o.status:
		return false
	case o.status == deployment.StatusFAILED:
		return d.Error != nil && d.Error.Code == o.reason.Code
	case o.status == deployment.StatusCANCELED:
		return !d.Forced
	}
	return true
}

// check bounds the texts of the reason, and the outputs. A program may have said the texts, so their characters are left
// as they are.
func (o outcome) check() []fault.Violation {
	violations := o.checkOutputs()
	if o.reason == nil {
		return violations
	}
	violations = append(violations, textrules.Length("/error/message", o.reason.Message, event.MaxText)...)
	return append(violations, textrules.Length("/error/description", o.reason.Description, textrules.MaxDescription)...)
}

// goLive makes a deployment that succeeds the live one of its instance, and returns the module version that it ships,
// nil where it has no release.
func (s *Service) goLive(ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment) (*ent.ModuleVersion, error) {
	if err := s.supersede(ctx, tx, e, d); err != nil {
		return nil, err
	}
	instance, err := state.LockInstance(ctx, s.Store, tx, d.ModuleInstanceID)
	if err != nil {
		return nil, err
	}
	version, err := s.Inputs.UpdateBaseline(ctx, tx, d, instance.LiveDeploymentID, e.At)
	if err != nil {
		return nil, err
	}
	var drift *state.Drift
	if instance.ExternalDeploymentID != nil {
		live := *d
		live.CompletedAt = &e.At
		if drift, err = state.FindDrift(ctx, tx, &live); err != nil {
			return nil, err
		}
	}
	if drift != nil {
		touched, err := drift.Touch(ctx, tx, e)
		if err != nil {
			return nil, err
		}
		e.Also = append(e.Also, *touched)
	}
	return version, drift.Set(instance.Update()).SetLiveDeploymentID(d.ID).ClearDestroyedAt().ClearForcedDeploymentID().SetUpdatedAt(e.At).Exec(ctx)
}

const cancelAction = "cancelDeployment"

// Cancel ends a deployment as CANCELED where no program is at work on it: one that waits or is PENDING, or RUNNING without a
// lease. Of another that is RUNNING it requests that its program end; until then it stays active, because two
// programs of one instance must never run side by side. The same request again changes nothing. It fails with
// DeploymentNotFound, DeploymentForbidden and DeploymentWrongState.
func (s *Service) Cancel(ctx context.Context, deploymentID string) (*ent.Deployment, error) {
	return s.CancelFor(ctx, deploymentID, nil)
}

// CancelFor is Cancel with a reason, or nil; that of the first request stays. It fails with RequestInvalid, too.
func (s *Service) CancelFor(ctx context.Context, deploymentID string, reason *string) (*ent.Deployment, error) {
	return s.carryOut(ctx, cancelAction, access.Deploy, deploymentID,
		func(ctx context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			by := actor.From(ctx).Name
			if violations := state.CheckReason(reason); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}
			if idle, err := cancelIdle(d, u, e, by); idle || err != nil {
				setCancelReason(d, u, e, reason)
				return err
			}
			if e.SkipAudit = d.CancelRequestedAt != nil; !e.SkipAudit {
				u.SetCancelRequestedAt(e.Shared()).SetCancelRequestedBy(by)
				e.Changes = map[string]any{"cancelRequestedAt": e.Shared(), "cancelRequestedBy": by}
				setCancelReason(d, u, e, reason)
			}
			return nil
		})
}

// ForceCancel ends a deployment as CANCELED although its program may still be at work, from two minutes after its
// cancellation was requested. The instance remembers it until a deployment succeeds. It fails with the errors of Cancel.
func (s *Service) ForceCancel(ctx context.Context, deploymentID string) (*ent.Deployment, error) {
	return s.ForceCancelFor(ctx, deploymentID, nil)
}

// ForceCancelFor is ForceCancel with a reason, as CancelFor.
func (s *Service) ForceCancelFor(ctx context.Context, deploymentID string, reason *string) (*ent.Deployment, error) {
	return s.carryOut(ctx, cancelAction, access.ForceCancel, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			by := actor.From(ctx).Name
			if violations := state.CheckReason(reason); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}
			if idle, err := cancelIdle(d, u, e, by); idle || err != nil {
				setCancelReason(d, u, e, reason)
				return err
			}
			if err := checkForce(d, e.Shared()); err != nil {
				return err
			}
			why := canceledError(by, nil)
			why.Message = fmt.Sprintf("Canceled by %s by force: its program was not known to have ended.", by)
			why.Description = unknownOutcome
			state.SetEnded(u, deployment.StatusCANCELED, e.At, why)
			u.SetForced(true)
			e.Changes = map[string]any{"status": deployment.StatusCANCELED, "forced": true}
			setCancelReason(d, u, e, reason)
			return tx.ModuleInstance.UpdateOneID(d.ModuleInstanceID).SetForcedDeploymentID(d.ID).SetUpdatedAt(e.At).Exec(ctx)
		})
}

// setCancelReason writes down why a deployment is canceled, where that was not requested before.
func setCancelReason(d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry, reason *string) {
	changes, changed := e.Changes.(map[string]any)
	if reason == nil || !changed || d.CancelReason != nil {
		return
	}
	u.SetCancelReason(*reason)
	changes["cancelReason"] = *reason
}

// cancelIdle ends a deployment on which no program is at work, and reports whether it is one.
func cancelIdle(d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry, by string) (bool, error) {
	if err := state.CheckStatus(d, "canceled", deployment.StatusAWAITING_APPROVAL, deployment.StatusPENDING, deployment.StatusRUNNING); err != nil {
		return false, err
	}
	if d.TriggerSource == state.TriggerEvent {
		return false, state.WrongState(d, "canceled", "it was started outside of Slipway, and ends when the cloud says so")
	}
	if d.LeaseExpiresAt != nil {
		return false, nil
	}
	state.SetEnded(u, deployment.StatusCANCELED, e.At, canceledError(by, nil))
	e.Changes = map[string]any{"status": deployment.StatusCANCELED}
	return true, nil
}

// checkForce refuses force before the program had time to end by itself.
func checkForce(d *ent.Deployment, at time.Time) error {
	if d.CancelRequestedAt == nil {
		return state.WrongState(d, "canceled by force", "its cancellation was not requested before; request it without force, and repeat this 2 minutes later")
	}
	if from := d.CancelRequestedAt.Add(forceAfter); at.Before(from) {
		f := state.WrongState(d, "canceled by force",
			fmt.Sprintf("its program has 2 minutes to end by itself, until %s", from.UTC().Format(time.RFC3339)))
		f.Metadata["forceFrom"] = from.UTC().Format(time.RFC3339Nano)
		return f
	}
	return nil
}

// unknownOutcome describes an end that nobody has seen.
const unknownOutcome = "How far it got is not known. See what was changed before it is deployed again."

// canceledError returns the error of a deployment that somebody canceled, with what its program said last, or nil.
func canceledError(by string, lastError *fault.Data) *fault.Data {
	why := &fault.Data{Code: string(fault.DeploymentCanceled), Message: fmt.Sprintf("Canceled by %s.", by)}
	if lastError == nil {
		return why
	}
	words := fault.Section{Title: "Last words of the program", Render: fault.RenderList, Items: []string{lastError.Message}}
	if lastError.Description != "" {
		words.Items = append(words.Items, lastError.Description)
	}
	why.Details = []fault.Section{words}
	return why
}

// killTime returns when the program of a deployment whose cancellation was requested is to be killed.
func (s *Service) killTime(d *ent.Deployment) time.Time {
	return d.CancelRequestedAt.Add(cmp.Or(s.CancelTimeout, DefaultCancelTimeout))
}
