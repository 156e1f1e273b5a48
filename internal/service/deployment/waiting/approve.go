package waiting

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"slipway/ent"
	"slipway/ent/approval"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
	"slipway/internal/base/optional"
	"slipway/internal/base/textrules"
	"slipway/internal/data/journal"
	"slipway/internal/data/record"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// maxReason is how many characters the reason of an approval or a rejection may have.
const maxReason = 500

// Approved is what an approval comes to.
type Approved struct {
	Deployment *ent.Deployment
	// Started is whether it has been started: by this approval, or before.
	Started bool
	// Refusal is why it was not started, nil if that was not tried.
	Refusal *fault.Error
	// Warnings are what the caller should see to, if it was started by this approval.
	Warnings []inputprop.Warning
}

// Approve records the actor's approval of a waiting deployment, with a reason or nil, and starts it if start is set
// and every rule is met. If the start is refused, the approval stays. A repeat changes nothing. It fails with
// DeploymentNotFound, DeploymentForbidden, DeploymentOwnApproval, RequestInvalid, DeploymentWrongState, and with
// DeploymentRejected, DeploymentSuperseded and DeploymentExpired if the deployment waits no longer.
func (s *Service) Approve(ctx context.Context, deploymentID string, reason *string, start bool) (*Approved, error) {
	d, err := s.decide(ctx, "approveDeployment", deploymentID, reason, true)
	if err != nil {
		return nil, err
	}

	done := &Approved{Deployment: d, Started: d.Status != state.StatusAwaiting}
	if done.Started || !start {
		return done, nil
	}

	started, warnings, err := s.Start(ctx, Start{DeploymentID: d.ID})
	if err == nil {
		return &Approved{Deployment: started, Started: true, Warnings: warnings}, nil
	}
	refusal, isAnswer := errors.AsType[*fault.Error](err)
	if !isAnswer || refusal.Status() >= http.StatusInternalServerError {
		return nil, err
	}

	done.Refusal = refusal
	if done.Deployment, err = state.Find(ctx, s.Store.Client.Deployment, d.ID); err == nil && hasStarted(done.Deployment) {
		done.Started, done.Refusal = true, nil // somebody else has started it meanwhile
	}
	return done, err
}

// Reject records that the actor rejects a waiting deployment, with a reason or nil, and ends it. A repeat changes
// nothing. It fails with the errors of Approve but DeploymentOwnApproval.
func (s *Service) Reject(ctx context.Context, deploymentID string, reason *string) (*ent.Deployment, error) {
	return s.decide(ctx, "rejectDeployment", deploymentID, reason, false)
}

// decide records an approval or a rejection. A rejection ends the deployment.
func (s *Service) decide(
	ctx context.Context, action, deploymentID string, reason *string, approves bool,
) (*ent.Deployment, error) {
	if reason != nil {
		if violations := textrules.Reason("/reason", *reason, maxReason); len(violations) > 0 {
			return nil, fault.Invalid(fault.RequestInvalid, violations...)
		}
	}

	approvalID := s.Journal.NewID(id.Approval)
	return s.Transition.Make(ctx, action, access.Deploy, deploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) error {
			a := actor.From(ctx)
			earlier, err := tx.Approval.Query().Where(approval.DeploymentID(d.ID), approval.PrincipalID(a.PrincipalID)).Only(ctx)
			if err != nil && !ent.IsNotFound(err) {
				return err
			}
			if e.SkipAudit = isRepeated(d, earlier, a, reason, approves); e.SkipAudit {
				return nil
			}
			if err := checkAwaiting(d, e.Shared()); err != nil {
				return err
			}

			makers, err := s.makersOf(ctx, tx, []*ent.Deployment{d}, a)
			if err == nil && approves {
				err = checkOther(d, a.PrincipalID, makers)
			}
			if err != nil {
				return err
			}

			now := &ent.Approval{
				ID: approvalID, CreatedAt: e.At, UpdatedAt: e.At, OrganizationID: d.OrganizationID, DeploymentID: d.ID,
				PrincipalID: a.PrincipalID, TokenID: a.ID, CreatedBy: a.Name, Role: a.Role, Approved: approves, Comment: reason,
			}
			if err := saveApproval(ctx, tx, earlier, now); err != nil {
				return err
			}

			e.Changes = map[string]any{"reason": reason}
			if !approves {
				state.SetEnded(u, state.StatusCanceled, e.At, rejectedError(a.Name, reason))
				e.Changes = map[string]any{"status": state.StatusCanceled, "reason": reason}
			}
			return nil
		}, nil)
}

// saveApproval writes what a principal decides now, in place of what it decided earlier, nil for nothing.
func saveApproval(ctx context.Context, tx *ent.Tx, earlier, now *ent.Approval) error {
	if earlier == nil {
		return record.Insert(ctx, tx, now)
	}
	u := earlier.Update().SetTokenID(now.TokenID).SetCreatedBy(now.CreatedBy).SetRole(now.Role).SetApproved(now.Approved).
		SetUpdatedAt(now.UpdatedAt)
	if now.Comment == nil {
		u.ClearComment()
	} else {
		u.SetComment(*now.Comment)
	}
	return u.Exec(ctx)
}

// isRepeated reports whether an actor's principal decided the same of a deployment before: the answer was lost. An
// approval of a deployment that still waits is a repeat only with the same token, role and reason: an earlier token
// may have been revoked or have expired since, and the approval with it.
func isRepeated(d *ent.Deployment, earlier *ent.Approval, a *actor.Actor, reason *string, approves bool) bool {
	switch {
	case earlier == nil || earlier.Approved != approves:
		return false
	case approves && d.Status == state.StatusAwaiting:
		return earlier.TokenID == a.ID && earlier.Role == a.Role && optional.Equal(earlier.Comment, reason)
	case approves:
		return hasStarted(d)
	}
	return d.Error != nil && d.Error.Code == string(fault.DeploymentRejected)
}

// checkAwaiting returns why nobody can approve, reject or start a deployment at a time, nil if it waits.
func checkAwaiting(d *ent.Deployment, at time.Time) error {
	if d.Status == state.StatusAwaiting && d.WaitsUntil.After(at) {
		return nil
	}
	why := expiredError(d)
	if d.Status != state.StatusAwaiting {
		if why = d.Error; hasStarted(d) || why == nil || why.Code == string(fault.DeploymentCanceled) {
			return state.CheckStatus(d, "approved, rejected or started", state.StatusAwaiting)
		}
	}
	return lateError(d, why)
}

// rejectedError returns the error of a deployment that somebody rejected.
func rejectedError(by string, reason *string) *fault.Data {
	why := &fault.Data{Code: string(fault.DeploymentRejected), Message: "Rejected by " + by + "."}
	if reason != nil {
		why.Description = *reason
	}
	return why
}

// lateError returns the error of who is late for a deployment that has ended while it waited.
func lateError(d *ent.Deployment, why *fault.Data) error {
	f := fault.New(fault.Code(why.Code), "The deployment %s is no longer waiting. %s", d.ID, why.Message)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}

// hasStarted reports whether a deployment has waited for nothing, or was started since.
func hasStarted(d *ent.Deployment) bool {
	return d.Status != state.StatusAwaiting && d.WaitsUntil == nil
}

// expiredError returns the error of a deployment that has waited for too long.
func expiredError(d *ent.Deployment) *fault.Data {
	until := ""
	if d.WaitsUntil != nil {
		until = d.WaitsUntil.UTC().Format(time.RFC3339)
	}
	return &fault.Data{
		Code:    string(fault.DeploymentExpired),
		Message: fmt.Sprintf("It waited for approvals until %s, and was not started.", until),
	}
}
