package view

import (
	"context"

	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
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
	if list, err = list.Search(ctx, f.Search); err != nil {
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
	return page.ReadEach(ctx, list, page.Parents{
		List: p.list, Viewer: actor.From(ctx).OrganizationID, Column: p.column, IDs: ids, Filter: page.FilterText(f),
		Search: f.Search,
	}, args, p.of)
}
