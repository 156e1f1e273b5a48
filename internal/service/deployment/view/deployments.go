package view

import (
	"context"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/service/access"
)

// Deployment returns one deployment, or DeploymentNotFound.
func (s *Service) Deployment(ctx context.Context, deploymentID string) (*record.Deployment, error) {
	if err := access.Check(actor.From(ctx), access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	return record.Deployments.In(s.Store).ByID(ctx, deploymentID, fault.DeploymentNotFound)
}

// DeploymentsByID returns the deployments of the ids that there are, in no order.
func (s *Service) DeploymentsByID(ctx context.Context, ids []string) ([]*record.Deployment, error) {
	return record.Deployments.In(s.Store).ByIDs(ctx, ids)
}

// Deployments returns a page of the organization's deployments.
func (s *Service) Deployments(ctx context.Context, f Filter, args page.Args) (*page.DeploymentConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	list, err := s.filtered(ctx, f, "")
	if err != nil {
		return nil, err
	}
	if list, err = f.search(ctx, list); err != nil {
		return nil, err
	}
	scope := page.Scope{List: "deployments", Viewer: a.OrganizationID, Filter: f}
	return page.Read(ctx, list, args, scope)
}

// filtered returns the deployments that meet a filter, in its order, but for what it searches for. parent is the column
// of the record whose deployments they are, "" for all.
func (s *Service) filtered(
	ctx context.Context, f Filter, parent string,
) (list record.Query[record.Deployment], err error) {
	if err := f.check(parent); err != nil {
		return list, err
	}
	list = f.inOrder(record.Deployments.In(s.Store))
	if f.AwaitingMyApproval {
		mine, err := s.awaitingMine(ctx, actor.From(ctx))
		if err != nil {
			return list, err
		}
		list = list.Where(mine...)
	}
	return list, nil
}

// Parent is a kind of record that has a list of deployments.
type Parent struct {
	list, column string
	of           func(*record.Deployment) string
}

// The parents of deployments.
var (
	OfInstance = Parent{"moduleInstance.deployments", deployment.FieldModuleInstanceID,
		func(d *record.Deployment) string { return d.ModuleInstanceID }}
	OfEnvironment = Parent{"environment.deployments", deployment.FieldEnvironmentID,
		func(d *record.Deployment) string { return d.EnvironmentID }}
	OfProject = Parent{"project.deployments", deployment.FieldProjectID,
		func(d *record.Deployment) string { return d.ProjectID }}
	OfRelease = Parent{"release.deployments", deployment.FieldReleaseID,
		func(d *record.Deployment) string { return *d.ReleaseID }}
	OfDefinition = Parent{"moduleDefinition.deployments", deployment.FieldModuleDefinitionID,
		func(d *record.Deployment) string { return *d.ModuleDefinitionID }}
)

// DeploymentsOf returns a page of the deployments of each record of a kind, as a filter has them: by one statement,
// unless the filter searches.
func (s *Service) DeploymentsOf(
	ctx context.Context, p Parent, ids []string, f Filter, args page.Args,
) (map[string]*page.DeploymentConnection, error) {
	list, err := s.filtered(ctx, f, p.column)
	if err != nil {
		return nil, err
	}
	of := page.Parents{
		List: p.list, Viewer: actor.From(ctx).OrganizationID, Column: p.column, IDs: ids, Filter: f.String(),
	}
	if f.Search == nil {
		return page.ReadEach(ctx, list, of, args, p.of)
	}
	return s.searchEach(ctx, list, of, f, args)
}

// searchedTogether is how many records a search of one of several lists counts as, besides those that it looks at: each
// takes two statements.
const searchedTogether = 100

// searchEach returns a page of the list of each parent, of what a filter searches for.
func (s *Service) searchEach(
	ctx context.Context, list record.Query[record.Deployment], of page.Parents, f Filter, args page.Args,
) (map[string]*page.DeploymentConnection, error) {
	pages := make(map[string]*page.DeploymentConnection, len(of.IDs))
	for _, id := range of.IDs {
		if err := meter.Spend(ctx, meter.Searched, searchedTogether); err != nil {
			return nil, err
		}
		found, err := f.search(ctx, list.Where(record.Equal(of.Column, id)))
		if err != nil {
			return nil, err
		}
		if pages[id], err = page.Read(ctx, found, args, of.Scope(id)); err != nil {
			return nil, err
		}
	}
	return pages, nil
}
