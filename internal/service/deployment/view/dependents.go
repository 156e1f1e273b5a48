package view

import (
	"context"

	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/service/dependency"
)

// DependentsOf returns a page of the instances that depend on each module instance.
func (s *Service) DependentsOf(
	ctx context.Context, instanceIDs []string, args page.Args,
) (map[string]*page.ModuleInstanceConnection, error) {
	known, err := dependency.In(s.Store).Of(ctx, instanceIDs)
	if err != nil {
		return nil, err
	}
	of := page.Parents{List: "moduleInstance.dependents", Viewer: actor.From(ctx).OrganizationID, IDs: instanceIDs}
	return page.ReadKnown(ctx, record.ModuleInstances.In(s.Store), of, known, args)
}
