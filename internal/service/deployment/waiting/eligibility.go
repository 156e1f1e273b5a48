package waiting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"slipway/ent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/state"
)

// WaitingEligibilities are those of one deployment that may wait for approvals.
type WaitingEligibilities struct{ Approve, Start *admission.Eligibility }

// WaitingEligibilities returns, for each deployment of the ids that there is, whether the actor could approve of it and
// start it now. Approve and Start make the same checks.
func (s *Service) WaitingEligibilities(ctx context.Context, ids []string) (map[string]WaitingEligibilities, error) {
	r, list, waits, err := s.findWaiting(ctx, ids)
	if err != nil {
		return nil, err
	}

	sources := make([]*admission.Source, 0, len(waits))
	for _, w := range waits {
		sources = append(sources, w.from)
	}
	check, err := s.Admission.NewEligibilityCheck(ctx, sources, admission.Rollback)
	if err != nil {
		return nil, err
	}
	a := actor.From(ctx)
	if err := r.refuse(ctx, a, waits, func(w *waiting) error { return check.Prove(w.from) }); err != nil {
		return nil, err
	}
	makers, err := s.makersOf(ctx, nil, list, a)
	if err != nil {
		return nil, err
	}
	gone, err := r.authorsGone(ctx, waits)
	if err != nil {
		return nil, err
	}

	of := make(map[string]WaitingEligibilities, len(list))
	for _, d := range list {
		var both WaitingEligibilities
		var from *admission.Source
		var warnings []inputprop.Warning
		refusal := checkStartable(a, d, r.shared)
		if w := waits[d.ID]; w != nil {
			from, warnings = w.from, w.Warnings
			if gone[d.ID] {
				warnings = append(warnings, inputprop.Warning{Pointer: "/id", Rule: "author_gone",
					Message: fmt.Sprintf("%s, who made it, has no valid token any longer.", d.CreatedBy)})
			}
			refusal = s.Admission.Judge(ctx, a, w.Proposal, admission.Request{}, r.shared)
		}

		if both.Approve, err = check.Eligibility(approveRefusal(a, d, makers, r.shared), nil, warnings); err != nil {
			return nil, err
		}
		if both.Start, err = check.Eligibility(refusal, from, warnings); err != nil {
			return nil, err
		}
		of[d.ID] = both
	}
	return of, nil
}

// authorsGone returns which of the deployments have an author none of whose tokens is valid any longer.
func (r waitingReader) authorsGone(ctx context.Context, of map[string]*waiting) (map[string]bool, error) {
	var authors []string
	for _, w := range of {
		if w.Starts.CreatedByID != nil && *w.Starts.CreatedByID != "" {
			authors = append(authors, *w.Starts.CreatedByID)
		}
	}
	if len(authors) == 0 {
		return nil, nil
	}
	valid, err := r.Store.ValidPrincipals(ctx, authors, r.shared)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for id, w := range of {
		gone[id] = w.Starts.CreatedByID != nil && !slices.Contains(valid, *w.Starts.CreatedByID)
	}
	return gone, nil
}

// makersOf returns the makers of the authors of deployments and of an actor.
func (s *Service) makersOf(
	ctx context.Context, tx *ent.Tx, list []*ent.Deployment, a *actor.Actor,
) (map[string][]string, error) {
	principals := []string{a.PrincipalID}
	for _, d := range list {
		if d.CreatedByID != nil && d.Status == state.StatusAwaiting {
			principals = append(principals, *d.CreatedByID)
		}
	}
	if len(principals) == 1 {
		return nil, nil
	}
	return s.Store.MakersOf(ctx, tx, principals)
}

// approveRefusal returns why an actor cannot approve of a deployment at a time, nil if it can.
func approveRefusal(a *actor.Actor, d *ent.Deployment, makers map[string][]string, at time.Time) error {
	if err := access.CheckIn(a, access.Deploy, state.PlaceOf(d), fault.DeploymentForbidden); err != nil {
		return err
	}
	if err := checkAwaiting(d, at); err != nil {
		return err
	}
	return checkOther(d, a.PrincipalID, makers)
}
