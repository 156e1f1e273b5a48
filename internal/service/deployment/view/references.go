package view

import (
	"context"

	"slipway/ent"
	"slipway/ent/deploymentreference"
	"slipway/internal/base/actor"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
)

// ReferencesOf returns a page of the references of each deployment that was created, in the order of its inputs.
func (s *Service) ReferencesOf(
	ctx context.Context, ids []string, args page.Args,
) (map[string]*page.DeploymentReferenceConnection, error) {
	return page.ReadEach(ctx, record.References.In(s.Store), page.Parents{
		List: "deployment.references", Viewer: actor.From(ctx).OrganizationID,
		Column: deploymentreference.FieldDeploymentID, IDs: ids,
	}, args, func(r *ent.DeploymentReference) string { return r.DeploymentID })
}
