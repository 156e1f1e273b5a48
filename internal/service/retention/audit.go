package retention

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/ent/auditevent"
	"slipway/ent/organization"
	"slipway/internal/base/actor"
	"slipway/internal/data/store"
)

// moveAudit moves the audit from before a time to the archive, that of global records first and then that of each
// organization: the database has the order of the rows within one.
func (s *Service) moveAudit(
	ctx context.Context, before time.Time, next func(context.Context) error,
) (moved int, err error) {
	moved, err = s.moveAuditOf(ctx, "", before, next)
	for last := ""; err == nil; {
		var list []string
		list, err = s.Store.Client.Organization.Query().Where(organization.IDGT(last)).
			Order(ent.Asc(organization.FieldID)).Limit(step).IDs(actor.WithServer(ctx, ""))
		for _, last = range list {
			n := 0
			if err == nil {
				n, err = s.moveAuditOf(ctx, last, before, next)
			}
			moved += n
		}
		if len(list) < step {
			break
		}
	}
	return moved, err
}

// moveAuditOf moves the audit of an organization. Rows that are in the archive and could not be removed are written
// there again.
func (s *Service) moveAuditOf(
	ctx context.Context, organizationID string, before time.Time, next func(context.Context) error,
) (moved int, err error) {
	ctx = actor.WithServer(ctx, organizationID)
	for {
		if err := next(ctx); err != nil {
			return moved, err
		}
		rows, err := s.Store.Client.AuditEvent.Query().Where(auditevent.CreatedAtLTE(before)).
			Order(ent.Asc(auditevent.FieldCreatedAt, auditevent.FieldID)).Limit(step).All(ctx)
		if err != nil || len(rows) == 0 {
			return moved, err
		}
		if err := s.Keep.Archive.append(rows); err != nil {
			return moved, err
		}

		ids := make([]string, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
		}

		err = s.Store.Tx(ctx, store.Repeatable, func(ctx context.Context, tx *ent.Tx) error {
			_, err := tx.AuditEvent.Delete().Where(auditevent.IDIn(ids...)).Exec(ctx)
			return err
		})
		if err != nil {
			return moved, err
		}
		if moved += len(rows); len(rows) < step {
			return moved, nil
		}
	}
}
