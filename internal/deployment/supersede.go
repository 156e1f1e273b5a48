package deployment

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/fault"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// supersede ends, in the transaction of a success, all that waits for approvals at its instance: it was approved against
// another live deployment. It comes before the other writes of that transaction. Whoever starts one of them holds its row
// and waits for the row that is in progress, so that the other order would have the two wait for each other.
func (s *Service) supersede(ctx context.Context, tx *ent.Tx, e *journal.Entry, d *ent.Deployment) error {
	if !hasWaiting(d) {
		return nil
	}
	same, err := isLiveRelease(ctx, tx, d)
	if err != nil || same {
		return err
	}
	q := tx.Deployment.Query().Where(deployment.ModuleInstanceID(d.ModuleInstanceID), store.IsAwaiting).Order(deployment.ByID())
	if s.Store.Postgres() {
		q.Modify(func(s *sql.Selector) { s.For(sql.LockNoKeyUpdate) })
	}
	waiting, err := q.All(ctx)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		u := w.Update().Where(deployment.Version(w.Version)).AddVersion(1).SetUpdatedAt(e.At)
		setEnded(u, StatusCanceled, e.At, supersededError(d.ID))
		ended, err := u.Save(ctx)
		if err != nil {
			return err
		}
		e.Also = append(e.Also, journal.Change{
			ObjectID: w.ID, Action: "supersedeDeployment", ByServer: true, Changes: map[string]any{"status": StatusCanceled}, Changed: ended,
		})
	}
	return nil
}

// isLiveRelease reports whether what a deployment ships is live in its instance already, so that its success changes nothing
// for those who wait. A destroy does.
func isLiveRelease(ctx context.Context, tx *ent.Tx, d *ent.Deployment) (bool, error) {
	if d.TriggerSource == TriggerDestroy || d.ReleaseID == nil {
		return false, nil
	}
	i, err := tx.ModuleInstance.Get(ctx, d.ModuleInstanceID)
	if err != nil || i.LiveDeploymentID == nil {
		return false, err
	}
	return tx.Deployment.Query().Where(deployment.ID(*i.LiveDeploymentID), deployment.ReleaseID(*d.ReleaseID)).Exist(ctx)
}

const waitingHereColumn = "waiting_here"

// selectWaiting adds to the columns of a deployment whether others of its instance wait, which hasWaiting returns. One that
// begins to wait in the same moment is not seen; it is ended when somebody would start it.
func selectWaiting(q *sql.Selector) {
	q.AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString(`EXISTS (SELECT 1 FROM "deployments" AS "w" WHERE "w"."organization_id" = `).Ident(q.C(deployment.FieldOrganizationID)).
			WriteString(` AND "w"."module_instance_id" = `).Ident(q.C(deployment.FieldModuleInstanceID)).
			WriteString(` AND "w"."status" = 'AWAITING_APPROVAL')`)
	}), waitingHereColumn)
}

func hasWaiting(d *ent.Deployment) bool {
	value, err := d.Value(waitingHereColumn)
	switch is := value.(type) {
	case bool:
		return is
	case int64:
		return is != 0
	}
	return err != nil // it was not asked for: look
}

// supersededError returns the error of a deployment that waited while another succeeded, after which something is live, "" for
// nothing.
func supersededError(live string) *fault.Data {
	why := &fault.Data{Code: string(fault.DeploymentSuperseded), Message: fmt.Sprintf("Superseded by %s, which has succeeded since.", live)}
	if live == "" {
		why.Message = "Superseded: what was live has been destroyed since."
	}
	return why
}

// expiredError returns the error of a deployment that has waited for too long.
func expiredError(d *ent.Deployment) *fault.Data {
	until := ""
	if d.WaitsUntil != nil {
		until = d.WaitsUntil.UTC().Format(time.RFC3339)
	}
	return &fault.Data{Code: string(fault.DeploymentExpired), Message: fmt.Sprintf("It waited for approvals until %s, and was not started.", until)}
}
