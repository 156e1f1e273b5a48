package runners

import (
	"context"
	"slices"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
)

// Connection is a page of runners.
type Connection = page.Connection[*Runner]

// Edge is a runner on a page.
type Edge = page.Edge[*Runner]

// Filter has conditions on runners; nil ones do not count.
type Filter struct {
	DeploymentType *string
	Action         *state.Action
	// EnvironmentID is an environment in which the runner may run deployments.
	EnvironmentID *string
}

// List returns a page of the organization's runners. The error may be EnvironmentNotFound, for the filter's.
func (s *Service) List(ctx context.Context, f Filter, args page.Args) (*Connection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}

	place, err := s.placeOf(ctx, f.EnvironmentID)
	if err != nil {
		return nil, err
	}
	at, err := s.Journal.Clock(ctx)
	if err != nil {
		return nil, err
	}
	known, err := s.Known(ctx, at)
	if err != nil {
		return nil, err
	}

	found := slices.DeleteFunc(known, func(r *Runner) bool {
		return !r.meets(f) || place != nil && !r.MayRunIn(*place, at)
	})
	return page.Slice(found, args, page.Scope{List: "runners", Viewer: a.OrganizationID, Filter: f})
}

// placeOf returns the place of an environment, nil for none.
func (s *Service) placeOf(ctx context.Context, environmentID *string) (*actor.Place, error) {
	if environmentID == nil {
		return nil, nil
	}
	e, err := record.Environments.In(s.Store).ByID(record.Whole(ctx), *environmentID, fault.EnvironmentNotFound)
	if err != nil {
		return nil, err
	}
	return &actor.Place{ProjectID: e.ProjectID, EnvironmentID: e.ID}, nil
}

// meets reports whether the runner asks for work of the filter's type and action: by one ask for both.
func (r *Runner) meets(f Filter) bool {
	for run := range r.asked {
		if (f.DeploymentType == nil || *f.DeploymentType == run.DeploymentType) &&
			(f.Action == nil || *f.Action == run.Action) {
			return true
		}
	}
	return false
}
