package deployment

import (
	"context"

	"slipway/ent"
	"slipway/internal/access"
	"slipway/internal/id"
	"slipway/internal/journal"
)

// carryOut makes a transition of a deployment that is carried out, and settles how it ends: what a destroy leaves, and the
// rollback that a failure makes.
//
// One transaction takes its locks in this order: the deployments that wait at the instance (supersede), the instance
// (lockInstance), the deployment that tells of a drift (Drift.touch), the service with its events and their deployments, among
// them this one (save), and at last what a rollback inserts. This deployment's row is read first, and compared by its version when
// it is written.
func (s *Service) carryOut(
	ctx context.Context, name string, action access.Action, deploymentID string, f transitionFunc,
) (*ent.Deployment, error) {
	rollbackID := s.Journal.NewID(id.Deployment)
	settle := func(
		ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry,
	) (func() error, error) {
		if err := s.settleDestroy(ctx, tx, d, u, e); err != nil {
			return nil, err
		}
		automatic, err := s.proposeAutomatic(ctx, tx, d, u, e, rollbackID)
		if err != nil || automatic == nil {
			return nil, err
		}
		return func() error { return s.insertAutomatic(ctx, tx, e, automatic) }, nil
	}

	return s.transition(ctx, name, action, deploymentID, f, settle)
}
