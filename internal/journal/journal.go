// Package journal carries out writes: each in one transaction, with the audit row of who did what, and, where a
// deployment is written, the change row for those who follow it.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"slipway/ent"
	"slipway/internal/actor"
	"slipway/internal/id"
	"slipway/internal/record"
	"slipway/internal/store"
)

// Journal carries out writes.
type Journal struct {
	store *store.Store
	now   func() time.Time
	newID func(id.Kind) string
	// alone marks a journal that does not go by the database's clock.
	alone bool

	// Changed is called with each deployment that was written, when the write is committed; nil for nothing.
	Changed func(*ent.Deployment)
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

// Shared returns the time that leases, keys and tokens are compared with: what the database's clock said, or where it
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
	// ObjectID is the id of what is written; to be set by the write.
	ObjectID string
	// Changes are the changed fields and their new values; anything that encodes as JSON, or nil.
	Changes any
	// Changed is the deployment that is written, which leaves a change row; nil for other records.
	Changed *ent.Deployment
	// Completes is whether the write has ended Changed at another time than its own: it has learnt of the end late.
	Completes bool
	// Also are further changes that the same write makes, each with the rows that a write of its own would leave.
	Also []Change
	// SkipAudit is set by a write that found nothing to change: it leaves neither row.
	SkipAudit bool
}

// Change is one more change of a write.
type Change struct {
	// The fields are as in Entry.
	ObjectID  string
	Changes   any
	Changed   *ent.Deployment
	Completes bool
}

// Write runs f in one transaction together with the audit row of the action and the change row, and again from the
// start where the database says that it may succeed. The INSERTs with which f ends are sent together with those rows:
// where one of them fails, it is Write that returns the error. See store.Tx for the errors.
func (j *Journal) Write(ctx context.Context, action string, f func(ctx context.Context, tx *ent.Tx, e *Entry) error) error {
	auditID, at := j.newID(id.AuditEvent), j.now()
	// Writing the row once more waits for a COMMIT that is still under way; a look would miss it.
	committed := func(ctx context.Context, c *ent.Client) (bool, error) {
		tx, err := c.BeginTx(ctx, nil)
		if err != nil {
			return false, err
		}
		err = audit(ctx, tx, auditID, action, &Entry{At: at})
		end := tx.Rollback()
		if store.IsUniqueViolation(err) {
			return true, nil
		}
		return false, errors.Join(err, end)
	}
	var changed []*ent.Deployment
	err := j.store.TxAt(ctx, committed, func(ctx context.Context, tx *ent.Tx, clock func() time.Time) error {
		e := &Entry{At: at, Shared: func() time.Time {
			if began := clock(); !j.alone && !began.IsZero() {
				return began
			}
			return at
		}}
		changed = nil
		if err := f(ctx, tx, e); err != nil || e.SkipAudit {
			return err
		}
		if err := audit(ctx, tx, auditID, action, e); err != nil {
			return err
		}
		if e.Changed != nil {
			changed = append(changed, e.Changed)
			if err := recordChange(ctx, tx, e); err != nil {
				return err
			}
		}
		for _, c := range e.Also {
			if err := j.also(ctx, tx, action, e.At, c); err != nil {
				return err
			}
			changed = append(changed, c.Changed)
		}
		return nil
	})
	if err == nil && j.Changed != nil {
		for _, d := range changed {
			j.Changed(d)
		}
	}
	return err
}

// also writes the rows of one more change of a write.
func (j *Journal) also(ctx context.Context, tx *ent.Tx, action string, at time.Time, c Change) error {
	e := &Entry{At: at, ObjectID: c.ObjectID, Changes: c.Changes, Changed: c.Changed, Completes: c.Completes}
	if err := audit(ctx, tx, j.newID(id.AuditEvent), action, e); err != nil {
		return err
	}
	return recordChange(ctx, tx, e)
}

func audit(ctx context.Context, tx *ent.Tx, auditID, action string, e *Entry) error {
	a := actor.From(ctx)
	row := &ent.AuditEvent{
		ID: auditID, OrganizationID: store.Scope(a), CreatedAt: e.At, ActorID: a.ID, ActorName: a.Name, ActorRole: string(a.Role),
		Channel: string(a.Channel), Action: action, ObjectID: e.ObjectID, RequestID: actor.RequestID(ctx),
	}
	if e.Changes != nil {
		var err error
		if row.Changes, err = json.Marshal(e.Changes); err != nil {
			return fmt.Errorf("journal: changes of %s: %w", action, err)
		}
	}
	return record.Insert(ctx, tx, row)
}

func recordChange(ctx context.Context, tx *ent.Tx, e *Entry) error {
	d := e.Changed
	kind := record.KindOfChange(d.Version, e.Completes || d.CompletedAt != nil && d.CompletedAt.Equal(e.At))
	return record.Insert(ctx, tx, &ent.DeploymentChange{
		OrganizationID: store.Scope(actor.From(ctx)), DeploymentID: d.ID, Version: d.Version, Kind: &kind, CreatedAt: d.UpdatedAt,
	})
}
