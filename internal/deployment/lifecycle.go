package deployment

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/textrules"
)

// Complete ends a RUNNING deployment: SUCCEEDED, which makes it the instance's live one, or FAILED where
// a failure is given. The same outcome under the same lease again changes nothing. It gives
// DeploymentNotFound, DeploymentForbidden, DeploymentLeaseLost and RequestInvalid.
func (s *Service) Complete(ctx context.Context, deploymentID, leaseID string, failure *fault.Data) (*ent.Deployment, error) {
	return s.change(ctx, "completeDeployment", access.RunDeployments, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if err := held(d, leaseID, e.At); err != nil {
				if e.Silent = completed(d, leaseID, failure); e.Silent {
					return nil
				}
				return err
			}
			if failure != nil {
				if violations := checkFailure(failure); len(violations) > 0 {
					return fault.Invalid(fault.RequestInvalid, violations...)
				}
				end(u, deployment.StatusFAILED, e.At, failure)
				e.Changes = map[string]any{"status": deployment.StatusFAILED}
				return nil
			}
			end(u, deployment.StatusSUCCEEDED, e.At, nil)
			e.Changes = map[string]any{"status": deployment.StatusSUCCEEDED}
			instance, err := tx.ModuleInstance.Get(ctx, d.ModuleInstanceID)
			if err != nil {
				return err
			}
			if err := s.Inputs.Remember(ctx, tx, d, instance.LiveDeploymentID, e.At); err != nil {
				return err
			}
			return tx.ModuleInstance.UpdateOneID(d.ModuleInstanceID).
				SetLiveDeploymentID(d.ID).SetUpdatedAt(e.At).Exec(ctx)
		})
}

// checkFailure bounds why a deployment failed. A program may say it, so its characters are left as they are.
func checkFailure(failure *fault.Data) []fault.Violation {
	violations := textrules.Length("/error/message", failure.Message, MaxEventMessage)
	return append(violations, textrules.Length("/error/description", failure.Description, textrules.MaxDescription)...)
}

// completed says whether the runner itself has ended the deployment so before: the answer was lost.
func completed(d *ent.Deployment, leaseID string, failure *fault.Data) bool {
	switch {
	case d.LeaseID == nil || *d.LeaseID != leaseID:
		return false
	case failure == nil:
		return d.Status == deployment.StatusSUCCEEDED
	default:
		return d.Status == deployment.StatusFAILED && d.Error != nil && d.Error.Code == failure.Code
	}
}

// Cancel ends a PENDING or RUNNING deployment as CANCELED. It gives DeploymentNotFound,
// DeploymentForbidden and DeploymentWrongState.
func (s *Service) Cancel(ctx context.Context, deploymentID string) (*ent.Deployment, error) {
	return s.change(ctx, "cancelDeployment", access.Deploy, deploymentID,
		func(ctx context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if err := inState(d, "canceled", deployment.StatusPENDING, deployment.StatusRUNNING); err != nil {
				return err
			}
			end(u, deployment.StatusCANCELED, e.At, &fault.Data{
				Code:    string(fault.DeploymentCanceled),
				Message: fmt.Sprintf("Canceled by %s.", actor.From(ctx).Name),
			})
			e.Changes = map[string]any{"status": deployment.StatusCANCELED}
			return nil
		})
}
