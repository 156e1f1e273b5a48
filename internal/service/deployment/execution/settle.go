package execution

import (
	"context"
	"fmt"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/id"
	"slipway/internal/data/journal"
	"slipway/internal/service/access"
	"slipway/internal/service/deployment/state"
	"slipway/internal/service/deployment/transition"
)

// settleDestroy notes on its instance how a destroy ends, if an update ends one. What a runner has claimed may have
// removed some of what is live, unless it has succeeded, which removes it all.
func (s *Service) settleDestroy(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry,
) error {
	status, changes := u.Mutation().Status()
	if !changes || d.TriggerSource != state.TriggerDestroy || d.StartedAt == nil {
		return nil
	}

	if status == deployment.StatusSUCCEEDED {
		if err := s.supersede(ctx, tx, e, d); err != nil {
			return err
		}
	}

	instance, err := state.LockInstance(ctx, s.Store, tx, d.ModuleInstanceID)
	if err != nil {
		return err
	}

	if status == deployment.StatusSUCCEEDED {
		if err := s.Inputs.ForgetBaseline(ctx, tx, d, e.At); err != nil {
			return err
		}
		var none *state.Drift
		return none.Set(instance.Update()).ClearLiveDeploymentID().SetDestroyedAt(e.At).ClearForcedDeploymentID().
			SetUpdatedAt(e.At).Exec(ctx)
	}

	drift := &state.Drift{
		Kind: moduleinstance.DriftKindDESTROY_FAILED, Since: e.At, DeploymentID: d.ID,
		Message: fmt.Sprintf("The deployment %s, which was to destroy it, has ended as %s. %s", d.ID, status, unknownOutcome),
	}
	return drift.Set(instance.Update()).SetUpdatedAt(e.At).Exec(ctx)
}

// carryOut makes a transition of a deployment that is carried out, and settles how it ends: what a destroy leaves, and
// the rollback that a failure makes.
//
// One transaction takes its locks in this order: the deployments that wait at the instance (supersede), the instance
// (LockInstance), the deployment that tells of a drift (Drift.touch), the service with its events and their
// deployments, among them this one (save), and at last what a rollback inserts. This deployment's row is read first,
// and compared by its version when it is written.
func (s *Service) carryOut(
	ctx context.Context, name string, action access.Action, deploymentID string, f transition.Func,
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

	return s.Transition.Make(ctx, name, action, deploymentID, f, settle)
}
