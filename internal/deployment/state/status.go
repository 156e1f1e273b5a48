package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/fault"
)

// LateError returns the error of who is late for a deployment that has ended while it waited.
func LateError(d *ent.Deployment, why *fault.Data) error {
	f := fault.New(fault.Code(why.Code), "The deployment %s does not wait any more. %s", d.ID, why.Message)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status)}
	return f
}

// HasStarted reports whether a deployment has waited for nothing, or was started since.
func HasStarted(d *ent.Deployment) bool { return d.Status != StatusAwaiting && d.WaitsUntil == nil }

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

// The states of a deployment that waits for approvals, and of one that has ended without a success.
const (
	StatusAwaiting = deployment.StatusAWAITING_APPROVAL
	StatusCanceled = deployment.StatusCANCELED
)

const waitingHereColumn = "waiting_here"

// SelectWaiting adds to the columns of a deployment whether others of its instance wait, which HasWaiting returns. One that
// begins to wait in the same moment is not seen; it is ended when somebody would start it.
func SelectWaiting(q *sql.Selector) {
	q.AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) {
		b.WriteString(`EXISTS (SELECT 1 FROM "deployments" AS "w" WHERE "w"."organization_id" = `).Ident(q.C(deployment.FieldOrganizationID)).
			WriteString(` AND "w"."module_instance_id" = `).Ident(q.C(deployment.FieldModuleInstanceID)).
			WriteString(` AND "w"."status" = 'AWAITING_APPROVAL')`)
	}), waitingHereColumn)
}

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

// SupersededError returns the error of a deployment that waited while another succeeded, after which something is live, "" for
// nothing.
func SupersededError(live string) *fault.Data {
	why := &fault.Data{Code: string(fault.DeploymentSuperseded), Message: fmt.Sprintf("Superseded by %s, which has succeeded since.", live)}
	if live == "" {
		why.Message = "Superseded: what was live has been destroyed since."
	}
	return why
}

// ExpiredError returns the error of a deployment that has waited for too long.
func ExpiredError(d *ent.Deployment) *fault.Data {
	until := ""
	if d.WaitsUntil != nil {
		until = d.WaitsUntil.UTC().Format(time.RFC3339)
	}
	return &fault.Data{Code: string(fault.DeploymentExpired), Message: fmt.Sprintf("It waited for approvals until %s, and was not started.", until)}
}
