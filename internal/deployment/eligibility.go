package deployment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/fault"
)

// Eligibility says whether a deployment could be replayed now.
type Eligibility struct {
	Allowed bool
	// Code and Message are those of the refusal, nil where it is allowed.
	Code    *string
	Message *string
	// BlockedBy is the active deployment that stands in the way, or nil.
	BlockedBy *ent.Deployment
	// Warning says what to see to beforehand, nil where there is nothing.
	Warning *string
}

// Eligibilities are those of one deployment.
type Eligibilities struct{ Rollback, Redeploy *Eligibility }

// Eligibilities says of each deployment whether the actor could roll back to it or redeploy it now, by
// the predicate of Rollback and Redeploy.
func (s *Service) Eligibilities(ctx context.Context, ids []string) (map[string]Eligibilities, error) {
	list, err := sources(ctx, s.Store.Client.Deployment, false, ids...)
	if err != nil {
		return nil, err
	}
	blockers, err := s.blockers(ctx, list)
	if err != nil {
		return nil, err
	}
	of := make(map[string]Eligibilities, len(list))
	for _, from := range list {
		var both Eligibilities
		if both.Rollback, err = s.eligibility(ctx, rollback, from, blockers); err != nil {
			return nil, err
		}
		if both.Redeploy, err = s.eligibility(ctx, redeploy, from, blockers); err != nil {
			return nil, err
		}
		of[from.ID] = both
	}
	return of, nil
}

func (s *Service) eligibility(ctx context.Context, k kind, from *source, blockers map[string]*ent.Deployment) (*Eligibility, error) {
	warning := forcedWarning(from.ForcedID)
	_, err := s.judge(actor.From(ctx), k, from, s.Journal.Now())
	if err == nil {
		return &Eligibility{Allowed: true, Warning: warning}, nil
	}
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return nil, err
	}
	e := &Eligibility{Code: new(string(refusal.Code)), Message: &refusal.Message, Warning: warning}
	if refusal.Code == fault.DeploymentInProgress {
		e.BlockedBy = blockers[*from.ActiveID]
	}
	return e, nil
}

// forcedWarning tells of a deployment that was canceled by force, nil where there is none.
func forcedWarning(deploymentID *string) *string {
	if deploymentID == nil {
		return nil
	}
	return new(fmt.Sprintf("The deployment %s was canceled by force: its program may still have been at work. See what it changed first.", *deploymentID))
}

// blockers gives the active deployments that stand in the way, by their ids.
func (s *Service) blockers(ctx context.Context, list []*source) (map[string]*ent.Deployment, error) {
	of := map[string]*ent.Deployment{}
	var ids []string
	for _, from := range list {
		if from.ActiveID != nil && !slices.Contains(ids, *from.ActiveID) {
			ids = append(ids, *from.ActiveID)
		}
	}
	if len(ids) == 0 {
		return of, nil
	}
	active, err := s.DeploymentsByID(ctx, ids)
	for _, d := range active {
		of[d.ID] = d
	}
	return of, err
}
