package execution

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/optional"
	"slipway/internal/data/journal"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/propose"
	"slipway/internal/service/deployment/state"
)

// proposeAutomatic returns the rollback that an instance makes by itself when an update sets a deployment of it FAILED,
// nil if it makes none. Why it makes none, although it is told to, is added to the error of the deployment. The
// rollback is written by the transaction of the failure, so that there is exactly one, and nobody comes in between.
func (s *Service) proposeAutomatic(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry, rollbackID string,
) (*admission.Proposal, error) {
	status, changes := u.Mutation().Status()
	why, explained := u.Mutation().Error()
	switch {
	case !changes || status != deployment.StatusFAILED || !explained:
		return nil, nil
	case d.Setbacks.Last().WentBack(): // the cloud itself
		return nil, nil
	case slices.Contains([]string{state.TriggerRollback, state.TriggerDestroy, state.TriggerEvent}, d.TriggerSource):
		return nil, nil
	case d.CancelRequestedAt != nil: // somebody has stopped it, and decides what comes next
		return nil, nil
	}

	instance, err := tx.ModuleInstance.Get(ctx, d.ModuleInstanceID)
	if err != nil || instance.OnFailure != moduleinstance.OnFailureROLL_BACK {
		return nil, err
	}
	if instance.LiveDeploymentID == nil {
		u.SetError(withoutRollback(why, "nothing of the instance is live"))
		return nil, nil
	}

	// A failure is written whatever its request may still cost.
	server := actor.WithServer(meter.Without(ctx), d.OrganizationID)
	p, err := s.Propose.ReplayProposal(
		server, tx, admission.Rollback, propose.Replay{SourceID: *instance.LiveDeploymentID}, rollbackID, e.At,
	)
	if err == nil && p.Created != nil && optional.OrZero(p.Created.ReleaseID) == optional.OrZero(d.ReleaseID) {
		u.SetError(withoutRollback(why, "what is live is the same release"))
		return nil, nil
	}

	if err == nil {
		if p.TakenBack != nil {
			u.SetError(withoutRollback(why, fmt.Sprintf("the live deployment %s had succeeded, but %s",
				*instance.LiveDeploymentID, state.CloudSays(p.TakenBack))))
			return nil, nil
		}
		p.Active, p.Waiting = nil, 0 // it is the one that fails; however many wait, this one is made
		err = s.Admission.Admit(server, p, admission.Request{}, e.Shared())
	}

	if refusal, isAnswer := errors.AsType[*fault.Error](err); isAnswer &&
		refusal.Status() < http.StatusInternalServerError {
		u.SetError(withoutRollback(why, refusal.Message))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}

	p.Created.AfterFailureOf = &d.ID
	p.Created.Description = new(fmt.Sprintf("%s, after the failure of %s", *p.Created.Description, d.ID))
	return p, nil
}

// insertAutomatic writes the rollback that a failure makes.
func (s *Service) insertAutomatic(ctx context.Context, tx *ent.Tx, e *journal.Entry, p *admission.Proposal) error {
	own := &journal.Entry{At: e.At, Shared: e.Shared}
	if err := s.Admission.Write(actor.WithServer(ctx, actor.From(ctx).OrganizationID), tx, own, p); err != nil {
		return err
	}
	own.ObjectID, own.Action, own.ByServer = p.Created.ID, admission.Rollback.Action, true
	e.Also = append(append(e.Also, own.Change), own.Also...)
	return nil
}

// withoutRollback returns the error of a deployment with why its instance does not roll back by itself.
func withoutRollback(why *fault.Data, reason string) *fault.Data {
	with := *why
	with.Details = append(with.Details[:len(with.Details):len(with.Details)],
		fault.Section{Title: "Automatic rollback", Render: fault.RenderList, Items: []string{"There is none: " + reason}})
	return &with
}
