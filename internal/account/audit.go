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

// AuditFilter has conditions on audit events; nil ones do not count.
type AuditFilter struct {
	ActorID  *string
	Action   *string
	ObjectID *string
	From     *time.Time
	Before   *time.Time
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
	if f.From != nil {
		list = append(list, auditevent.CreatedAtGTE(f.From.UTC()))
	}
	if f.Before != nil {
		list = append(list, auditevent.CreatedAtLT(f.Before.UTC()))
	}
	return list
}

// AuditEvents gives a page of the organization's audit events. It gives AuditEventForbidden.
func (s *Service) AuditEvents(ctx context.Context, f AuditFilter, args page.Args) (*page.AuditEventConnection, error) {
	a := actor.From(ctx)
	if err := access.Check(a, access.ReadAudit, fault.AuditEventForbidden); err != nil {
		return nil, err
	}
	q := s.Store.Client.AuditEvent.Query().Where(f.conditions()...)
	scope := page.Scope{List: "auditEvents", Viewer: store.Scope(a), Filter: f}
	return page.Read(ctx, q, args, scope, func(e *ent.AuditEvent) (time.Time, string) { return e.CreatedAt, e.ID })
}
