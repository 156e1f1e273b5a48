package deployment

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/textrules"
)

// ending is how a runner says that a deployment has ended.
type ending struct {
	status deployment.Status
	// words are why it failed, or what its program said last before it was canceled; nil for nothing.
	words *fault.Data
}

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
			case deployment.StatusSUCCEEDED:
				end(u, how.status, e.At, nil)
				return s.goLive(ctx, tx, d, e.At)
			case deployment.StatusPENDING, deployment.StatusRUNNING:
				return fmt.Errorf("deployment: %s is no end", how.status)
			}
			return nil
		})
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

// check bounds what is told of an end. A program may say it, so its characters are left as they are.
func (how ending) check() []fault.Violation {
	if how.words == nil {
		return nil
	}
	violations := textrules.Length("/error/message", how.words.Message, MaxEventMessage)
	return append(violations, textrules.Length("/error/description", how.words.Description, textrules.MaxDescription)...)
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
