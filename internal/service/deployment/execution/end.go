package execution

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/pure/event"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
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

// End ends a RUNNING deployment: SUCCEEDED, which makes it the instance's live one, or FAILED if a failure is given;
// also if its cancellation was requested, for what happened wins. It is CANCELED if the completion says so. The
// same outcome under the same lease again changes nothing. It fails with DeploymentNotFound, DeploymentForbidden,
// DeploymentLeaseLost and RequestInvalid, and DeploymentWrongState if it is canceled and nobody has requested that.
//
// What the cloud is known to have rolled back is no success: it is FAILED with DeploymentRolledBack, is not live and
// has no outputs.
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

// check bounds the texts of the reason, and the outputs. A program may have said the texts, so their characters are
// left as they are.
func (o outcome) check() []fault.Violation {
	violations := o.checkOutputs()
	if o.reason == nil {
		return violations
	}
	violations = append(violations, textrules.Length("/error/message", o.reason.Message, event.MaxText)...)
	return append(violations, textrules.Length("/error/description", o.reason.Description, textrules.MaxDescription)...)
}

// goLive makes a deployment that succeeds the live one of its instance, and returns the module version that it ships,
// nil if it has no release.
func (s *Service) goLive(
	ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment,
) (*ent.ModuleVersion, error) {
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

	return version, drift.Set(instance.Update()).SetLiveDeploymentID(d.ID).ClearDestroyedAt().ClearForcedDeploymentID().
		SetUpdatedAt(e.At).Exec(ctx)
}
