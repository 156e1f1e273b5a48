package execution

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/optional"
	"slipway/internal/data/journal"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/deployment/transition"
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

const cancelAction = "cancelDeployment"

// Cancel ends a deployment as CANCELED if no program is at work on it: one that waits or is PENDING, or RUNNING
// without a lease. Of another that is RUNNING it requests that its program end; until then it stays active, because two
// programs of one instance must never run side by side. The same request again changes nothing. The reason may be nil;
// that of the first request stays. It fails with DeploymentNotFound, DeploymentForbidden, DeploymentWrongState and
// RequestInvalid.
func (s *Service) Cancel(ctx context.Context, deploymentID string, reason *string) (*ent.Deployment, error) {
	return s.cancel(ctx, access.Deploy, deploymentID, reason, requestCancel)
}

// ForceCancel ends a deployment as CANCELED although its program may still be at work, from two minutes after its
// cancellation was requested. The instance remembers it until a deployment succeeds. The reason may be nil; that of the
// first request stays. It fails with the errors of Cancel.
func (s *Service) ForceCancel(ctx context.Context, deploymentID string, reason *string) (*ent.Deployment, error) {
	return s.cancel(ctx, access.ForceCancel, deploymentID, reason, endByForce)
}

// cancel ends a deployment on which no program is at work; another is stopped by stop, which sets the changes unless it
// changes nothing.
func (s *Service) cancel(
	ctx context.Context, action access.Action, deploymentID string, reason *string, stop transition.Func,
) (*ent.Deployment, error) {
	return s.carryOut(ctx, cancelAction, action, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			if violations := state.CheckReason(reason); len(violations) > 0 {
				return fault.Invalid(fault.RequestInvalid, violations...)
			}

			if err := checkCancelable(d); err != nil {
				return err
			}
			if isIdle(d) {
				state.SetEnded(u, deployment.StatusCANCELED, e.At, canceledError(actor.From(ctx).Name, nil))
				e.Changes = map[string]any{"status": deployment.StatusCANCELED}
			} else if err := stop(ctx, tx, d, u, e); err != nil {
				return err
			}
			setCancelReason(d, u, e, reason)
			return nil
		})
}

// CancelEligibility returns whether the actor could cancel a deployment at a time, by force or not. Cancel and
// ForceCancel make the same checks.
func (s *Service) CancelEligibility(
	ctx context.Context, d *ent.Deployment, force bool, at time.Time,
) (*admission.Eligibility, error) {
	action := access.Deploy
	if force {
		action = access.ForceCancel
	}

	err := access.CheckIn(actor.From(ctx), action, state.PlaceOf(d), fault.DeploymentForbidden)
	if err == nil {
		err = checkCancelable(d)
	}
	if err == nil && force && !isIdle(d) {
		err = checkForce(d, at)
	}
	return admission.EligibilityOf(err, nil)
}

// requestCancel requests that the program of a deployment end, unless somebody has.
func requestCancel(
	ctx context.Context, _ *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry,
) error {
	if e.SkipAudit = d.CancelRequestedAt != nil; e.SkipAudit {
		return nil
	}
	a := actor.From(ctx)
	u.SetCancelRequestedAt(e.Shared()).SetCancelRequestedBy(a.Name).
		SetNillableCancelRequestedByActor(optional.NonZero(a.ID))
	e.Changes = map[string]any{"cancelRequestedAt": e.Shared(), "cancelRequestedBy": a.Name}
	return nil
}

// endByForce ends a deployment although its program may still be at work.
func endByForce(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry,
) error {
	if err := checkForce(d, e.Shared()); err != nil {
		return err
	}
	by := actor.From(ctx).Name
	why := canceledError(by, nil)
	why.Message = fmt.Sprintf("Canceled by %s by force: its program was not known to have ended.", by)
	why.Description = unknownOutcome

	state.SetEnded(u, deployment.StatusCANCELED, e.At, why)
	u.SetForced(true)
	e.Changes = map[string]any{"status": deployment.StatusCANCELED, "forced": true}
	return tx.ModuleInstance.UpdateOneID(d.ModuleInstanceID).SetForcedDeploymentID(d.ID).SetUpdatedAt(e.At).Exec(ctx)
}

// setCancelReason writes down why a deployment is canceled, if that was not requested before.
func setCancelReason(d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry, reason *string) {
	changes, changed := e.Changes.(map[string]any)
	if reason == nil || !changed || d.CancelReason != nil {
		return
	}
	u.SetCancelReason(*reason)
	changes["cancelReason"] = *reason
}

// checkCancelable returns why a deployment cannot be canceled, nil if it can.
func checkCancelable(d *ent.Deployment) error {
	if err := state.CheckStatus(
		d, "canceled", deployment.StatusAWAITING_APPROVAL, deployment.StatusPENDING, deployment.StatusRUNNING,
	); err != nil {
		return err
	}
	if d.TriggerSource == state.TriggerEvent {
		return state.WrongState(d, "canceled", "it was started outside of Slipway, and ends when the cloud says so")
	}
	return nil
}

// isIdle reports whether no program is at work on a deployment that has not ended.
func isIdle(d *ent.Deployment) bool { return d.LeaseExpiresAt == nil }

// checkForce refuses force before the program had time to end by itself.
func checkForce(d *ent.Deployment, at time.Time) error {
	if d.CancelRequestedAt == nil {
		return state.WrongState(d, "canceled by force", "its cancellation was not requested before; request it without "+
			"force, and repeat this 2 minutes later")
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
	words := fault.Section{
		Title: "Last words of the program", Render: fault.RenderList, Items: []string{lastError.Message},
	}
	if lastError.Description != "" {
		words.Items = append(words.Items, lastError.Description)
	}
	why.Details = []fault.Section{words}
	return why
}

// KillTime returns when the program of a deployment whose cancellation was requested is to be killed.
func (s *Service) KillTime(d *ent.Deployment) time.Time {
	return d.CancelRequestedAt.Add(cmp.Or(s.CancelTimeout, DefaultCancelTimeout))
}
