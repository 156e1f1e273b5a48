package waiting

import (
	"context"
	"time"

	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/journal"
	"slipway/internal/data/store"
	"slipway/internal/pure/gate"
	"slipway/internal/pure/inputprop"
	"slipway/internal/service/deployment/admission"
	"slipway/internal/service/deployment/releases"
	"slipway/internal/service/deployment/state"
)

// Start asks for a deployment that waits for approvals to be carried out.
type Start struct {
	DeploymentID string
	// OverrideReason is why the caller goes past rules that are not met, nil if they hold.
	OverrideReason *string
}

const startAction = "startDeployment"

// Start makes a deployment that waits PENDING, where all that its creation would demand now is met, and the approvals
// are there. One that has started is returned as it is. It fails with the errors of Create and Destroy about what it
// ships and where, with DeploymentApprovalsMissing, EnvironmentClosed, DeploymentNotPromoted and RuleNotOverridable,
// and with DeploymentRejected, DeploymentSuperseded and DeploymentExpired for one that waits no longer. It also returns
// what the caller should see to, nothing for one that has started.
func (s *Service) Start(ctx context.Context, in Start) (*ent.Deployment, []inputprop.Warning, error) {
	if violations := (admission.Control{OverrideReason: in.OverrideReason}).Check(); len(violations) > 0 {
		return nil, nil, fault.Invalid(fault.RequestInvalid, violations...)
	}
	d, err := s.View.Deployment(ctx, in.DeploymentID)
	if err != nil {
		return nil, nil, err
	}

	m, lock := admission.ModeOf(d.TriggerSource), store.Creating
	if m.Operation == gate.Destroy {
		lock = store.StoppingCreation
	}

	var ended bool
	var warnings []inputprop.Warning
	started, err := s.Transition.Make(lock(ctx), startAction, m.Permission, in.DeploymentID,
		func(ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry) (err error) {
			ended, warnings = false, nil
			if e.SkipAudit = hasStarted(d); e.SkipAudit {
				return nil
			}
			if err := checkAwaiting(d, e.Shared()); err != nil {
				return err
			}
			ended, warnings, err = s.start(ctx, tx, d, u, e, in.OverrideReason)
			return err
		}, nil)

	switch {
	case err != nil:
		return nil, nil, err
	case ended:
		return nil, nil, endedByStart(started)
	case started.Error != nil && started.Error.Code == string(fault.DeploymentSuperseded):
		return nil, nil, checkAwaiting(started, time.Time{})
	}

	return started, warnings, nil
}

// endedByStart returns the error of a start that was refused and has ended the deployment by that.
func endedByStart(d *ent.Deployment) error {
	f := fault.New(
		fault.DeploymentSuperseded, "The deployment %s cannot be started, and was ended by this request. %s", d.ID,
		d.Error.Message,
	)
	f.Metadata = map[string]any{"deploymentId": d.ID, "status": string(d.Status), "ended": true}
	return f
}

// start sets in an update that a deployment is PENDING, or that it was superseded, and reports whether that ends it. It
// also returns what the caller should see to.
func (s *Service) start(
	ctx context.Context, tx *ent.Tx, d *ent.Deployment, u *ent.DeploymentUpdateOne, e *journal.Entry,
	overrideReason *string,
) (ended bool, warnings []inputprop.Warning, err error) {
	r := waitingReader{Service: s, client: tx.Client(), read: store.InTx(tx), tx: tx, at: e.At, shared: e.Shared()}
	all, err := r.all(ctx, []*ent.Deployment{d})
	if err != nil {
		return false, nil, err
	}
	w := all[d.ID]
	if w.Active != nil && w.Active.ID == d.ID {
		return false, nil, journal.ErrChanged // somebody else has started it since it was read
	}
	if w.isSuperseded() {
		state.SetEnded(u, state.StatusCanceled, e.At, state.SupersededError(w.Live))
		e.Changes = map[string]any{"status": state.StatusCanceled}
		return true, nil, nil
	}

	if err := r.refuse(ctx, actor.From(ctx), all, func(*waiting) error { return proveStored(ctx, tx, d) }); err != nil {
		return false, nil, err
	}
	if err := s.Admission.Admit(
		ctx, w.Proposal, admission.Request{Control: admission.Control{OverrideReason: overrideReason}}, r.shared,
	); err != nil {
		return false, nil, err
	}
	data, err := d.Data.Data()
	if err != nil {
		return false, nil, err
	}

	// In one statement with what it compares: a success that commits meanwhile has ended what waited, or is seen by it.
	// Only what began to wait within the transaction of that success, which has not seen it, is not ended.
	u.Where(deployment.StatusEQ(state.StatusAwaiting), s.replacesLive).
		SetStatus(w.Created.Status).ClearWaitsUntil().SetNillableServiceArn(state.ServiceOf(data))
	e.Changes, e.Queues = map[string]any{"status": w.Created.Status}, true
	if override := w.Created.Override; override != nil {
		u.SetOverride(override)
		e.Also = append(e.Also, admission.Overridden(d.ID, override))
	}
	return false, w.Warnings, nil
}

// proveStored returns why what a deployment ships is not what was stored, nil if it is.
func proveStored(ctx context.Context, tx *ent.Tx, d *ent.Deployment) error {
	if d.ReleaseID == nil {
		return releases.NotStored(d.ID)
	}
	r, err := tx.Release.Get(ctx, *d.ReleaseID)
	if ent.IsNotFound(err) {
		return releases.NotStored(d.ID)
	}
	if err == nil {
		_, err = releases.Content(r)
	}
	return err
}

// replacesLive is that the release which was live when a deployment began to wait is live still.
func (s *Service) replacesLive(q *sql.Selector) {
	q.Where(sql.P(func(b *sql.Builder) {
		b.WriteString(
			admission.ReplacesLive(
				s.Store.Postgres(), q.C(deployment.FieldOrganizationID), q.C(deployment.FieldModuleInstanceID),
				q.C(deployment.FieldReplacesID),
			),
		)
	}))
}
