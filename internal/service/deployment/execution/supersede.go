package execution

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/service/deployment/state"
)

// supersede ends, in the transaction of a success, all that waits for approvals at its instance: it was approved
// against another live deployment. It comes before the other writes of that transaction. Whoever starts one of them
// holds its row and waits for the row that is in progress, so that the other order would have the two wait for each
// other.
func (s *Service) supersede(ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment) error {
	if !state.HasWaiting(d) {
		return nil
	}
	same, err := isLiveRelease(ctx, tx, d)
	if err != nil || same {
		return err
	}

	q := tx.Deployment.Query().Where(deployment.ModuleInstanceID(d.ModuleInstanceID), store.IsAwaiting).
		Order(deployment.ByID())
	if s.Store.Postgres() {
		q.Modify(func(s *sql.Selector) { s.For(sql.LockNoKeyUpdate) })
	}
	waiting, err := q.All(ctx)
	if err != nil {
		return err
	}

	for _, w := range waiting {
		u := w.Update().Where(deployment.Version(w.Version)).AddVersion(1).SetUpdatedAt(e.At)
		state.SetEnded(u, state.StatusCanceled, e.At, state.SupersededError(d.ID))
		ended, err := u.Save(ctx)
		if err != nil {
			return err
		}
		e.Also = append(e.Also, journal.Change{
			ObjectID: w.ID, Action: "supersedeDeployment", ByServer: true,
			Changes: map[string]any{"status": state.StatusCanceled}, Changed: ended,
		})
	}

	return nil
}

// isLiveRelease reports whether what a deployment ships is live in its instance already, so that its success changes
// nothing for those who wait. A destroy does.
func isLiveRelease(ctx context.Context, tx *ent.Tx, d *ent.Deployment) (bool, error) {
	if d.TriggerSource == state.TriggerDestroy || d.ReleaseID == nil {
		return false, nil
	}
	i, err := tx.ModuleInstance.Get(ctx, d.ModuleInstanceID)
	if err != nil || i.LiveDeploymentID == nil {
		return false, err
	}
	return tx.Deployment.Query().Where(deployment.ID(*i.LiveDeploymentID), deployment.ReleaseID(*d.ReleaseID)).Exist(ctx)
}
