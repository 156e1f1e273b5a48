// Package journal carries out writes: each in one transaction, with the audit row of who did what, and, where a
// deployment is written, the change row for those who follow it.
package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/ent/deploymentchange"
	"slipway/internal/base/actor"
	"slipway/internal/base/id"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
)

// Journal carries out writes.
type Journal struct {
	store *store.Store
	now   func() time.Time
	newID func(id.Kind) string
	// alone marks a journal that does not go by the database's clock.
	alone bool

	// Changed is called with each deployment that was written and what the write has done to it, when it is committed; nil
	// for nothing.
	Changed func(*ent.Deployment, deploymentchange.Kind)
}

// New makes a journal over a store. Records have their times by now, the server's clock.
func New(s *store.Store, now func() time.Time, newID func(id.Kind) string) *Journal {
	return &Journal{store: s, now: now, newID: newID}
}

// NewAlone is New for one who is alone with the database, as a test that lets time pass: now is also what leases,
// keys and tokens are compared with, whatever the database's clock says.
func NewAlone(s *store.Store, now func() time.Time, newID func(id.Kind) string) *Journal {
	return &Journal{store: s, now: now, newID: newID, alone: true}
}

// NewID draws an id. It is to be drawn before the write, which may run more than once.
func (j *Journal) NewID(k id.Kind) string { return j.newID(k) }

// Now is the time, as writes note it.
func (j *Journal) Now() time.Time { return j.now() }

// Shared returns the time that leases, keys and tokens are compared with: what the database's clock said, or if it
// has none the server's.
func (j *Journal) Shared(database time.Time) time.Time {
	if j.alone || database.IsZero() {
		return j.now()
	}
	return database
}

// Clock asks the database for the time that leases, keys and tokens are compared with.
func (j *Journal) Clock(ctx context.Context) (time.Time, error) {
	at, err := j.store.Clock(ctx)
	return j.Shared(at), err
}

// Entry is a write in progress.
type Entry struct {
	// At is the time of the write, as records have it.
	At time.Time
	// Shared returns the time of the write by the clock that all servers share: see Journal.Shared. Asked before the
	// first statement of the write, it takes a round trip of its own.
	Shared func() time.Time
	// Change is what the write does, to be set by it.
	Change
	// Also are further changes that the same write makes, each with the rows that a write of its own would leave.
	Also []Change
	// SkipAudit is set by a write that found nothing to change: it leaves no rows.
	SkipAudit bool
}

// Change is what a write does to one record.
type Change struct {
	// ObjectID is the id of the record.
	ObjectID string
	// Changes are the changed fields and their new values; anything that encodes as JSON, or nil.
	Changes any
	// Changed is the deployment that is written, which leaves a change row; nil for other records.
	Changed *ent.Deployment
	// Completes is whether the write has ended Changed at another time than its own: it has learnt of the end late.
	Completes bool
	// Queues is whether the write has made Changed PENDING, which had waited for approvals.
	Queues bool
	// Action is what the audit calls it, "" for the action of the write.
	Action string
	// ByServer is whether the server has made it by itself, and not the caller whose write it is part of.
	ByServer bool
}

// WriteFunc makes the changes of a write in its transaction, and says in the entry what they are.
type WriteFunc func(ctx context.Context, tx *ent.Tx, e *Entry) error

// Write runs f in one transaction together with the audit row of the action and the change row, and again from the
// start if the database says that it may succeed. The INSERTs with which f ends are sent together with those rows:
// where one of them fails, it is Write that returns the error. See store.Tx for the errors.
func (j *Journal) Write(ctx context.Context, action string, f WriteFunc) error {
	w := &write{Journal: j, action: action, f: f, auditID: j.newID(id.AuditEvent), at: j.now()}
	err := j.store.TxAt(ctx, w.committed, w.run)
	if err == nil && j.Changed != nil {
		for _, c := range w.written {
			j.Changed(c.deployment, c.kind)
		}
	}
	return err
}

// write is one write, which may run more than once.
type write struct {
	*Journal
	action  string
	f       WriteFunc
	auditID string
	at      time.Time
	// written are the deployments that the last run has written.
	written []written
}

// written is a deployment and what a write has done to it.
type written struct {
	deployment *ent.Deployment
	kind       deploymentchange.Kind
}

// run runs the write in a transaction.
func (w *write) run(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
	w.written = nil
	e := &Entry{At: w.at, Shared: func() time.Time { return w.shared(clock()) }}
	if err := w.f(ctx, tx, e); err != nil || e.SkipAudit {
		return err
	}
	if err := w.record(ctx, tx, w.auditID, e.Change); err != nil {
		return err
	}
	for _, c := range e.Also {
		if err := w.record(ctx, tx, w.newID(id.AuditEvent), c); err != nil {
			return err
		}
	}
	return nil
}

// shared returns the time of a transaction that began at one, by the clock that all servers share.
func (w *write) shared(began time.Time) time.Time {
	if w.alone || began.IsZero() {
		return w.at
	}
	return began
}

// record inserts the rows that a change leaves beside its own.
func (w *write) record(ctx context.Context, tx *ent.Tx, auditID string, c Change) error {
	if err := w.audit(ctx, tx, auditID, c); err != nil || c.Changed == nil {
		return err
	}
	d := c.Changed
	kind := record.KindOfChange(d.Version, c.Completes || d.CompletedAt != nil && d.CompletedAt.Equal(w.at))
	if c.Queues {
		kind = deploymentchange.KindQUEUED
	}
	w.written = append(w.written, written{d, kind})
	return record.Insert(ctx, tx, &ent.DeploymentChange{
		OrganizationID: store.Scope(actor.From(ctx)), DeploymentID: d.ID,
		Version: d.Version, Kind: &kind, CreatedAt: d.UpdatedAt,
	})
}

func (w *write) audit(ctx context.Context, tx *ent.Tx, auditID string, c Change) error {
	a := actor.From(ctx)
	if c.ByServer {
		a = actor.From(actor.WithServer(ctx, a.OrganizationID))
	}
	row := &ent.AuditEvent{
		ID: auditID, OrganizationID: store.Scope(a), CreatedAt: w.at,
		ActorID: a.ID, ActorName: a.Name, ActorRole: string(a.Role),
		Channel: string(a.Channel), Action: cmp.Or(c.Action, w.action), ObjectID: c.ObjectID, RequestID: actor.RequestID(ctx),
	}
	if c.Changes != nil {
		var err error
		if row.Changes, err = json.Marshal(c.Changes); err != nil {
			return fmt.Errorf("journal: changes of %s: %w", w.action, err)
		}
	}
	return record.Insert(ctx, tx, row)
}

// committed reports whether the write has been committed, if its COMMIT has lost its answer. To write the audit row
// once more waits for a COMMIT that is still under way; a look would miss it.
func (w *write) committed(ctx context.Context, c *ent.Client) (bool, error) {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	err = w.audit(ctx, tx, w.auditID, Change{})
	end := tx.Rollback()
	if store.IsUniqueViolation(err) {
		return true, nil
	}
	return false, errors.Join(err, end)
}
