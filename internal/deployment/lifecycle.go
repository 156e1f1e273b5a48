package deployment

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/ecs"
	"slipway/internal/fault"
	"slipway/internal/journal"
)

// Report is what is new of a RUNNING deployment; nil fields stay.
type Report struct {
	// Data has the fields of an aws:ecs deployment that changed: a JSON object.
	Data                 []byte
	ExternalDeploymentID *string
	ResourceARN          *string
	ResourceName         *string
}

// Report adds to the record of a RUNNING deployment. It gives DeploymentNotFound, DeploymentForbidden,
// RequestInvalid and DeploymentWrongState.
func (s *Service) Report(ctx context.Context, deploymentID string, in Report) (*ent.Deployment, error) {
	return s.change(ctx, "reportDeployment", access.RunDeployments, deploymentID,
		func(_ context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, _ *journal.Entry) error {
			if err := inState(d, "reported on", deployment.StatusRUNNING); err != nil {
				return err
			}
			u.SetNillableExternalDeploymentID(in.ExternalDeploymentID).
				SetNillableResourceArn(in.ResourceARN).SetNillableResourceName(in.ResourceName)
			if in.Data == nil {
				return nil
			}
			data, err := merged(d, in.Data)
			if err != nil {
				return err
			}
			u.SetData(data.Column())
			return nil
		})
}

func merged(d *ent.Deployment, patch []byte) (*ecs.Data, error) {
	data, err := d.Data.Data()
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, fault.Invalid(fault.RequestInvalid, fault.Violation{Pointer: "/data", Rule: "kind",
			Message: "is for deployments of the kind aws:ecs only, this one is " + d.DeploymentType})
	}
	change, violations := ecs.DecodePatch(patch)
	if len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, fault.Under("/data", violations)...)
	}
	data.Merge(change)
	return data, nil
}

// Complete ends a RUNNING deployment: SUCCEEDED, which makes it the instance's live one, or FAILED where
// a failure is given. It gives DeploymentNotFound, DeploymentForbidden and DeploymentWrongState.
func (s *Service) Complete(ctx context.Context, deploymentID string, failure *fault.Data) (*ent.Deployment, error) {
	return s.change(ctx, "completeDeployment", access.RunDeployments, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if err := inState(d, "completed", deployment.StatusRUNNING); err != nil {
				return err
			}
			u.SetCompletedAt(e.At)
			if failure != nil {
				u.SetStatus(deployment.StatusFAILED).SetError(failure)
				return nil
			}
			u.SetStatus(deployment.StatusSUCCEEDED)
			return tx.ModuleInstance.UpdateOneID(d.ModuleInstanceID).
				SetLiveDeploymentID(d.ID).SetUpdatedAt(e.At).Exec(ctx)
		})
}

// Cancel ends a PENDING or RUNNING deployment as CANCELED. It gives DeploymentNotFound,
// DeploymentForbidden and DeploymentWrongState.
func (s *Service) Cancel(ctx context.Context, deploymentID string) (*ent.Deployment, error) {
	return s.change(ctx, "cancelDeployment", access.Deploy, deploymentID,
		func(ctx context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if err := inState(d, "canceled", deployment.StatusPENDING, deployment.StatusRUNNING); err != nil {
				return err
			}
			by := fault.Data{
				Code:    string(fault.DeploymentCanceled),
				Message: fmt.Sprintf("Canceled by %s.", actor.From(ctx).Name),
			}
			u.SetStatus(deployment.StatusCANCELED).SetCompletedAt(e.At).SetError(&by)
			return nil
		})
}
