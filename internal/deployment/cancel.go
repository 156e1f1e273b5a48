package deployment

import (
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/journal"
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

// killedAt returns when the program of a deployment whose cancellation was requested is to be killed.
func (s *Service) killedAt(d *ent.Deployment) time.Time {
	if s.CancelTimeout > 0 {
		return d.CancelRequestedAt.Add(s.CancelTimeout)
	}
	return d.CancelRequestedAt.Add(DefaultCancelTimeout)
}

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

const cancelAction = "cancelDeployment"

// unknownExtent describes an end that nobody has seen.
const unknownExtent = "How far it got is not known. See what was changed before it is deployed again."

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
