package account

import (
	"context"
	"slices"
	"time"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/data/page"
	"slipway/internal/data/record"
	"slipway/internal/data/store"
	"slipway/internal/service/access"
)

// AuditFilter has conditions on audit events, each nil for none.
type AuditFilter struct {
	ActorID       *string
	Action        *string
	ObjectID      *string
	CreatedFrom   *time.Time
	CreatedBefore *time.Time
}

func (f AuditFilter) comparisons() []record.Comparison {
	return slices.Concat(
		record.Given(record.Equal, auditevent.FieldActorID, f.ActorID),
		record.Given(record.Equal, auditevent.FieldAction, f.Action),
		record.Given(record.Equal, auditevent.FieldObjectID, f.ObjectID),
		record.Given(record.AtLeast, auditevent.FieldCreatedAt, f.CreatedFrom),
		record.Given(record.Below, auditevent.FieldCreatedAt, f.CreatedBefore),
	)
}

// AuditEventsByID returns the audit events of the ids that exist, in no order. The error may be AuditEventForbidden.
func (s *Service) AuditEventsByID(ctx context.Context, ids []string) ([]*ent.AuditEvent, error) {
	if err := access.Check(actor.From(ctx), access.ReadAudit, fault.AuditEventForbidden); err != nil {
		return nil, err
	}
	return record.AuditEvents.In(s.Store).ByIDs(ctx, ids)
}

// AuditEvents returns a page of the organization's audit events. The error may be AuditEventForbidden.
func (s *Service) AuditEvents(ctx context.Context, f AuditFilter, args page.Args) (*page.AuditEventConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadAudit, fault.AuditEventForbidden); err != nil {
		return nil, err
	}
	list := record.AuditEvents.In(s.Store).Where(record.All(f.comparisons())...)
	scope := page.Scope{List: "auditEvents", Viewer: store.Scope(a), Filter: f}
	return page.Read(ctx, list, args, scope)
}
