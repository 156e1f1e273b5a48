package view

import (
	"context"
	"slices"
	"time"

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

// Filter has conditions on deployments; nil ones do not count.
type Filter struct {
	ModuleInstanceID *string
	EnvironmentID    *string
	ProjectID        *string
	Status           *deployment.Status
	Kind             *string
	CreatedFrom      *time.Time
	CreatedBefore    *time.Time
	// Overridden has those kept that went past rules, or those that did not.
	Overridden *bool `json:",omitempty"` // of which a cursor without it knows nothing, as of the next
	// AwaitingMyApproval has those kept that wait for an approval which the actor could give. Only a list knows it.
	AwaitingMyApproval bool `json:",omitempty"`
}

// comparisons returns the filter as what it means, for its list as for those who follow what is in it.
func (f Filter) comparisons() []record.Comparison {
	return slices.Concat(
		record.Given(record.Equal, deployment.FieldModuleInstanceID, f.ModuleInstanceID),
		record.Given(record.Equal, deployment.FieldEnvironmentID, f.EnvironmentID),
		record.Given(record.Equal, deployment.FieldProjectID, f.ProjectID),
		record.Given(record.Equal, deployment.FieldStatus, (*string)(f.Status)),
		record.Given(record.Equal, deployment.FieldDeploymentType, f.Kind),
		record.Given(record.AtLeast, deployment.FieldCreatedAt, f.CreatedFrom),
		record.Given(record.Below, deployment.FieldCreatedAt, f.CreatedBefore),
		record.Given(record.Set, deployment.FieldOverride, f.Overridden),
	)
}

// lasting returns the conditions on what never changes of a deployment.
func (f Filter) lasting() Filter {
	f.Status, f.Overridden = nil, nil
	return f
}

// Deployments returns a page of the organization's deployments.
func (s *Service) Deployments(ctx context.Context, f Filter, args page.Args) (*page.DeploymentConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.Read, fault.DeploymentForbidden); err != nil {
		return nil, err
	}
	list := record.Deployments.In(s.Store).Where(record.All(f.comparisons())...)
	if f.AwaitingMyApproval {
		mine, err := s.awaitingMine(ctx, a)
		if err != nil {
			return nil, err
		}
		list = list.Where(mine...)
	}
	scope := page.Scope{List: "deployments", Viewer: a.OrganizationID, Filter: f}
	return page.Read(ctx, list, args, scope)
}

// DeploymentsOf returns a page of the deployments of each module instance.
func (s *Service) DeploymentsOf(
	ctx context.Context, instanceIDs []string, args page.Args,
) (map[string]*page.DeploymentConnection, error) {
	return page.ReadEach(ctx, record.Deployments.In(s.Store), page.Parents{
		List: "moduleInstance.deployments", Viewer: actor.From(ctx).OrganizationID,
		Column: deployment.FieldModuleInstanceID, IDs: instanceIDs,
	}, args, func(d *record.Deployment) string { return d.ModuleInstanceID })
}

// DeploymentsOfReleases returns a page of the deployments of each release.
func (s *Service) DeploymentsOfReleases(
	ctx context.Context, releaseIDs []string, args page.Args,
) (map[string]*page.DeploymentConnection, error) {
	return page.ReadEach(ctx, record.Deployments.In(s.Store), page.Parents{
		List: "release.deployments", Viewer: actor.From(ctx).OrganizationID,
		Column: deployment.FieldReleaseID, IDs: releaseIDs,
	}, args, func(d *record.Deployment) string { return *d.ReleaseID })
}
