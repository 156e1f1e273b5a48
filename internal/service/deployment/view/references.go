package view

import (
	"context"

	"slipway/ent"
	"slipway/ent/deploymentreference"
	"slipway/internal/data/record"
)

// maxReferences is how many references of a deployment are shown.
const maxReferences = 1000

// References returns the references of deployments that were created, by their ids: the first of each.
func (s *Service) References(ctx context.Context, ids []string) (map[string][]*ent.DeploymentReference, error) {
	return record.References.In(
		s.Store,
	).Children(ctx, deploymentreference.FieldDeploymentID, ids, record.Range{Limit: maxReferences},
		func(r *ent.DeploymentReference) string { return r.DeploymentID })
}
