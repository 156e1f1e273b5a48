package deployment

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/gate"
	"slipway/internal/journal"
	"slipway/internal/store"
)

// The states of a deployment that waits for approvals, and of one that has ended without a success.
const (
	StatusAwaiting = deployment.StatusAWAITING_APPROVAL
	StatusCanceled = deployment.StatusCANCELED
)

// Start asks for a deployment that waits for approvals to be carried out.
type Start struct {
	DeploymentID string
	// OverrideReason is why the caller goes past rules that are not met, nil where they hold.
	OverrideReason *string
}

const startAction = "startDeployment"

// Start makes a deployment that waits PENDING, where all that its creation would demand now is met, and the approvals are
// there. One that has started is returned as it is. It fails with the errors of Create and Destroy about what it ships and
// where, with DeploymentApprovalsMissing, EnvironmentClosed, DeploymentNotPromoted and RuleNotOverridable, and with
// DeploymentRejected, DeploymentSuperseded and DeploymentExpired for one that waits no longer.
func (s *Service) Start(ctx context.Context, in Start) (*ent.Deployment, error) {
	if violations := (Control{OverrideReason: in.OverrideReason}).check(); len(violations) > 0 {
		return nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	d, err := s.Deployment(ctx, in.DeploymentID)
	if err != nil {
		return nil, err
	}
	m, lock := operationOf(d.TriggerSource), store.Creating
	if m.operation == gate.Destroy {
		lock = store.StoppingCreation
	}
	ended := false
	started, err := s.transition(lock(ctx), startAction, m.permission, in.DeploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) (err error) {
			ended = false
			if e.SkipAudit = hasStarted(d); e.SkipAudit {
				return nil
			}
			if err := checkAwaiting(d, e.Shared()); err != nil {
				return err
			}
			ended, err = s.start(ctx, tx, d, u, e, in.OverrideReason)
			return err
		}, nil)
	switch {
	case err != nil:
		return nil, err
	case ended:
		return nil, endedByStart(started)
	case started.Error != nil && started.Error.Code == string(fault.DeploymentSuperseded):
		return nil, checkAwaiting(started, time.Time{})
	}
	return started, nil
}

// endedByStart returns the error of a start that was refused and has ended the deployment by that.
func endedByStart(d *ent.Deployment) error {
	f := fault.New(fault.DeploymentSuperseded, "The deployment %s cannot be started, and was ended by this request. %s", d.ID, d.Error.Message)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status), "ended": true}
	return f
}

// start sets in an update that a deployment is PENDING, or that it was superseded, and reports whether that ends it.
func (s *Service) start(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry, overrideReason *string,
) (ended bool, err error) {
	r := waitingReader{Service: s, client: tx.Client(), read: store.InTx(tx), tx: tx, at: e.At, shared: e.Shared()}
	all, err := r.all(ctx, []*ent.Deployment{d})
	if err != nil {
		return false, err
	}
	w := all[d.ID]
	if w.active != nil && w.active.ID == d.ID {
		return false, journal.ErrChanged // somebody else has started it since it was read
	}
	if w.isSuperseded() {
		setEnded(u, StatusCanceled, e.At, supersededError(w.live))
		e.Changes = map[string]any{"status": StatusCanceled}
		return true, nil
	}

	if err := r.refuse(ctx, actor.From(ctx), all, func(*waiting) error { return proveStored(ctx, tx, d) }); err != nil {
		return false, err
	}
	if err := s.admit(ctx, w.proposal, Request{Control: Control{OverrideReason: overrideReason}}, r.shared); err != nil {
		return false, err
	}
	data, err := d.Data.Data()
	if err != nil {
		return false, err
	}

	// In one statement with what it compares: a success that commits meanwhile has ended what waited, or is seen by it. Only what
	// began to wait within the transaction of that success, which has not seen it, is not ended.
	u.Where(deployment.StatusEQ(StatusAwaiting), s.replacesLive).
		SetStatus(w.created.Status).ClearWaitsUntil().SetNillableServiceArn(serviceOf(data))
	e.Changes, e.Queues = map[string]any{"status": w.created.Status}, true
	if override := w.created.Override; override != nil {
		u.SetOverride(override)
		e.Also = append(e.Also, overridden(d.ID, override))
	}
	return false, nil
}

// proveStored returns why what a deployment ships is not what was stored, nil where it is.
func proveStored(ctx context.Context, tx *ent.Tx, d *ent.Deployment) error {
	if d.ReleaseID == nil {
		return notStored(d.ID)
	}
	r, err := tx.Release.Get(ctx, *d.ReleaseID)
	if ent.IsNotFound(err) {
		return notStored(d.ID)
	}
	if err == nil {
		_, err = Content(r)
	}
	return err
}

// replacesLive is that the release which was live when a deployment began to wait is live still.
func (s *Service) replacesLive(q *sql.Selector) {
	q.Where(sql.P(func(b *sql.Builder) {
		b.WriteString(replacesLive(s.Store.Postgres(), q.C(deployment.FieldOrganizationID), q.C(deployment.FieldModuleInstanceID), q.C(deployment.FieldReplacesID)))
	}))
}

// replacesLive returns the condition that the release of the deployment that one replaces is the one that is live in its
// instance; the arguments are expressions of its columns.
func replacesLive(postgres bool, organization, instance, replaces string) string {
	equals := " IS "
	if postgres {
		equals = " IS NOT DISTINCT FROM "
	}
	return `(SELECT "o"."release_id" FROM "deployments" AS "o" WHERE "o"."id" = ` + replaces + ` AND "o"."organization_id" = ` + organization + `)` +
		equals + `(SELECT "o"."release_id" FROM "module_instances" AS "i" JOIN "deployments" AS "o" ON "o"."id" = "i"."live_deployment_id"
		AND "o"."organization_id" = "i"."organization_id" WHERE "i"."id" = ` + instance + ` AND "i"."organization_id" = ` + organization + `)`
}

// operationOf returns how a deployment is judged and who may make it, by what started it.
func operationOf(triggerSource string) replayMode {
	switch triggerSource {
	case TriggerRollback:
		return rollback
	case TriggerRedeploy:
		return redeploy
	case TriggerDestroy:
		return destroy
	case TriggerPromotion:
		return replayMode{operation: gate.Promote, permission: access.Deploy}
	}
	return replayMode{operation: gate.Create, permission: access.Deploy}
}
