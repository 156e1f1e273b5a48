package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"

	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentchange"
	"slipway/ent/idempotencykey"
	"slipway/internal/actor"
)

// OwnedID is a record and whose it is.
type OwnedID struct{ OrganizationID, ID string }

// sweeps are the only statements over the rows of all organizations at once. What they find is then
// changed in its own organization. Each selects organization_id and id by a time, the oldest first.
var sweeps = struct{ leases, keys, changes, events, pending sweep }{
	leases:  sweep{deployment.Table, deployment.FieldLeaseExpiresAt},
	keys:    sweep{idempotencykey.Table, idempotencykey.FieldCreatedAt},
	changes: sweep{deploymentchange.Table, deploymentchange.FieldCreatedAt},
	events:  sweep{cloudevent.Table, cloudevent.FieldCreatedAt},
	pending: sweep{cloudevent.Table, cloudevent.FieldPendingSince},
}

type sweep struct{ table, column string }

// ExpiredLeases returns at most limit RUNNING deployments of all organizations whose lease has run out by
// a time. It is for the system.
func (s *Store) ExpiredLeases(ctx context.Context, by time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, sweeps.leases, by, limit)
}

// OldIdempotencyKeys returns at most limit keys of all organizations that are older than a time. It is for
// the system.
func (s *Store) OldIdempotencyKeys(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, sweeps.keys, before, limit)
}

// OldChanges returns at most limit change rows of all organizations that are older than a time. It is for
// the system.
func (s *Store) OldChanges(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, sweeps.changes, before, limit)
}

// OldEvents returns at most limit events of the cloud, of all organizations, that were received before a time. It is for
// the system.
func (s *Store) OldEvents(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, sweeps.events, before, limit)
}

// PendingEvents is OldEvents for those whose deployment is not known.
func (s *Store) PendingEvents(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, sweeps.pending, before, limit)
}

// WaitingServices returns at most limit services of all organizations, by their ARNs, that a deployment has had and of
// which events wait for their deployment, those first of which one waits longest. It is for the system.
func (s *Store) WaitingServices(ctx context.Context, limit int) ([]OwnedID, error) {
	d := entsql.Dialect(s.dialect)
	e, t := d.Table(cloudevent.Table), d.Table(deployment.Table)
	had := d.Select(t.C(deployment.FieldID)).From(t).Where(entsql.And(
		entsql.ColumnsEQ(t.C(deployment.FieldOrganizationID), e.C(cloudevent.FieldOrganizationID)),
		entsql.ColumnsEQ(t.C(deployment.FieldServiceArn), e.C(cloudevent.FieldServiceArn)),
	))
	query, args := d.Select(e.C(cloudevent.FieldOrganizationID), e.C(cloudevent.FieldServiceArn)).From(e).
		Where(entsql.And(entsql.NotNull(e.C(cloudevent.FieldPendingSince)), entsql.Exists(had))).
		GroupBy(e.C(cloudevent.FieldOrganizationID), e.C(cloudevent.FieldServiceArn)).
		OrderExpr(entsql.Raw(entsql.Min(e.C(cloudevent.FieldPendingSince)))).Limit(limit).Query()
	return s.ownedIDs(ctx, query, args)
}

var errNotSystem = errors.New("store: only the system looks over all organizations")

func (s *Store) sweep(ctx context.Context, over sweep, by time.Time, limit int) ([]OwnedID, error) {
	t := entsql.Dialect(s.dialect).Table(over.table)
	query, args := entsql.Dialect(s.dialect).Select(t.C("organization_id"), t.C("id")).From(t).
		Where(entsql.LTE(t.C(over.column), by)).
		OrderBy(t.C(over.column)).Limit(limit).Query()
	return s.ownedIDs(ctx, query, args)
}

func (s *Store) ownedIDs(ctx context.Context, query string, args []any) (found []OwnedID, err error) {
	if a := actor.From(ctx); a == nil || a.Role != actor.System {
		return nil, errNotSystem
	}
	tx, err := s.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, s.storage.publicError(ctx, err)
	}
	defer func() { err = s.storage.publicError(ctx, rollBack(tx, err)) }()
	if s.dialect == dialect.Postgres {
		if _, err := tx.ExecContext(ctx, "SELECT set_config('app.isolation', 'filter', true)"); err != nil {
			return nil, err
		}
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var o OwnedID
		if err := rows.Scan(&o.OrganizationID, &o.ID); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		found = append(found, o)
	}
	return found, errors.Join(rows.Err(), rows.Close())
}
