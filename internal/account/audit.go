package account

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/ent/predicate"
	"slipway/internal/access"
	"slipway/internal/actor"
	"slipway/internal/fault"
	"slipway/internal/page"
	"slipway/internal/store"
)

// AuditFilter has conditions on audit events, each nil for none.
type AuditFilter struct {
	ActorID       *string
	Action        *string
	ObjectID      *string
	CreatedFrom   *time.Time
	CreatedBefore *time.Time
}

func (f AuditFilter) conditions() []predicate.AuditEvent {
	var list []predicate.AuditEvent
	if f.ActorID != nil {
		list = append(list, auditevent.ActorID(*f.ActorID))
	}
	if f.Action != nil {
		list = append(list, auditevent.Action(*f.Action))
	}
	if f.ObjectID != nil {
		list = append(list, auditevent.ObjectID(*f.ObjectID))
	}
	if f.CreatedFrom != nil {
		list = append(list, auditevent.CreatedAtGTE(f.CreatedFrom.UTC()))
	}
	if f.CreatedBefore != nil {
		list = append(list, auditevent.CreatedAtLT(f.CreatedBefore.UTC()))
	}
	return list
}

// AuditEventsByID returns the audit events of the ids that exist, in no order. The error may be AuditEventForbidden.
func (s *Service) AuditEventsByID(ctx context.Context, ids []string) ([]*ent.AuditEvent, error) {
	if err := access.Check(actor.From(ctx), access.ReadAudit, fault.AuditEventForbidden); err != nil {
		return nil, err
	}
	return s.Store.Client.AuditEvent.Query().Where(auditevent.IDIn(ids...)).All(ctx)
}

// AuditEvents returns a page of the organization's audit events. The error may be AuditEventForbidden.
func (s *Service) AuditEvents(ctx context.Context, f AuditFilter, args page.Args) (*page.AuditEventConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadAudit, fault.AuditEventForbidden); err != nil {
		return nil, err
	}
	q := s.Store.Client.AuditEvent.Query().Where(f.conditions()...)
	scope := page.Scope{List: "auditEvents", Viewer: store.Scope(a), Filter: f}
	return page.Read(ctx, q, args, scope, func(e *ent.AuditEvent) (time.Time, string) { return e.CreatedAt, e.ID })
}
