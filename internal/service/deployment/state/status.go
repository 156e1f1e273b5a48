package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/fault"
)

// The states of a deployment that waits for approvals, and of one that has ended without a success.
const (
	StatusAwaiting = deployment.StatusAWAITING_APPROVAL
	StatusCanceled = deployment.StatusCANCELED
)

// CheckStatus returns why something cannot be done with a deployment, nil if its status is one of those that allow it.
func CheckStatus(d *ent.Deployment, done string, allowed ...deployment.Status) error {
	if slices.Contains(allowed, d.Status) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, s := range allowed {
		names[i] = string(s)
	}
	return WrongState(d, done, fmt.Sprintf("its status is %s, not %s", d.Status, strings.Join(names, " or ")))
}

// WrongState returns the error of what cannot be done with a deployment as it is, and why.
func WrongState(d *ent.Deployment, done, why string) *fault.Error {
	f := fault.New(fault.DeploymentWrongState, "The deployment %s cannot be %s: %s.", d.ID, done, why)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}

// SetEnded lets an update end a deployment. Its lease id stays, so that its runner can be told that it has ended.
func SetEnded(u *ent.DeploymentUpdateOne, status deployment.Status, at time.Time, why *fault.Data) {
	u.SetStatus(status).SetCompletedAt(at).ClearLeaseExpiresAt()
	if why != nil {
		u.SetError(why)
	}
}

const waitingHereColumn = "waiting_here"

// SelectWaiting adds to the columns of a deployment whether others of its instance wait, which HasWaiting returns. One
// that begins to wait in the same moment is not seen; it is ended when somebody would start it.
func SelectWaiting(q *sql.Selector) {
	q.AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString(`EXISTS (SELECT 1 FROM "deployments" AS "w" WHERE "w"."organization_id" = `).
			Ident(q.C(deployment.FieldOrganizationID)).
			WriteString(` AND "w"."module_instance_id" = `).Ident(q.C(deployment.FieldModuleInstanceID)).
			WriteString(` AND "w"."status" = 'AWAITING_APPROVAL')`)
	}), waitingHereColumn)
}

// HasWaiting returns what SelectWaiting has asked for.
func HasWaiting(d *ent.Deployment) bool {
	value, err := d.Value(waitingHereColumn)
	switch is := value.(type) {
	case bool:
		return is
	case int64:
		return is != 0
	}
	return err != nil // it was not asked for: look
}

// SupersededError returns the error of a deployment that waited while another succeeded, after which something is live,
// "" for nothing.
func SupersededError(live string) *fault.Data {
	why := &fault.Data{
		Code: string(fault.DeploymentSuperseded), Message: fmt.Sprintf("Superseded by %s, which has succeeded since.", live),
	}
	if live == "" {
		why.Message = "Superseded: what was live has been destroyed since."
	}
	return why
}
