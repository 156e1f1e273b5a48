package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"slipway/ent/cloudevent"
	"slipway/ent/deployment"
	"slipway/ent/deploymentchange"
	"slipway/ent/idempotencykey"
	"slipway/ent/runnerask"
	"slipway/internal/base/actor"
	"slipway/internal/data/store/pgconn"
)

// OwnedID is a record and whose it is.
type OwnedID struct{ OrganizationID, ID string }

// ExpiredLeases returns at most limit RUNNING deployments of all organizations whose lease has run out by
// a time. It is for the system.
func (s *Store) ExpiredLeases(ctx context.Context, by time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, deployment.Table, deployment.FieldLeaseExpiresAt, by, limit)
}

// ExpiredWaiting returns at most limit deployments of all organizations that have waited for approvals until a time or
// less. It is for the system.
func (s *Store) ExpiredWaiting(ctx context.Context, by time.Time, limit int) ([]OwnedID, error) {
	t := entsql.Dialect(s.dialect).Table(deployment.Table)
	until := t.C(deployment.FieldWaitsUntil)
	query := entsql.Dialect(s.dialect).
		Select(t.C(deployment.FieldOrganizationID), t.C(deployment.FieldID)).
		From(t).
		Where(entsql.LTE(until, by))
	IsAwaiting(query)
	text, args := query.OrderBy(until).Limit(limit).Query()
	return s.ownedIDs(ctx, text, args)
}

// OldIdempotencyKeys returns at most limit keys of all organizations that are older than a time. It is for
// the system.
func (s *Store) OldIdempotencyKeys(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, idempotencykey.Table, idempotencykey.FieldCreatedAt, before, limit)
}

// OldChanges returns at most limit change rows of all organizations that are older than a time. It is for
// the system.
func (s *Store) OldChanges(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, deploymentchange.Table, deploymentchange.FieldCreatedAt, before, limit)
}

// OldAsks returns at most limit asks of runners, of all organizations, that are older than a time. It is for the
// system.
func (s *Store) OldAsks(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, runnerask.Table, runnerask.FieldAskedAt, before, limit)
}

// OldEvents returns at most limit events of the cloud, of all organizations, that were received before a time. It is
// for the system.
func (s *Store) OldEvents(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, cloudevent.Table, cloudevent.FieldCreatedAt, before, limit)
}

// PendingEvents is OldEvents for those whose deployment is not known.
func (s *Store) PendingEvents(ctx context.Context, before time.Time, limit int) ([]OwnedID, error) {
	return s.sweep(ctx, cloudevent.Table, cloudevent.FieldPendingSince, before, limit)
}

// WaitingServices returns at most limit services of all organizations, by their ARNs, that a deployment has had and of
// which events wait for their deployment, those first of which one waits longest. It is for the system.
func (s *Store) WaitingServices(ctx context.Context, limit int) ([]OwnedID, error) {
	// Either database is to follow the index of the events that wait. SQLite would rather follow one by which all
	// events are in groups, and PostgreSQL without statistics read all of them.
	events := `"cloud_events" INDEXED BY "cloudevent_pending_since" WHERE "pending_since" IS NOT NULL`
	if s.Postgres() {
		events = `"cloud_events" WHERE "pending_since" IS NOT NULL AND "pending_since" BETWEEN '-infinity' AND 'infinity'`
	}
	// The OFFSET has PostgreSQL look for each service by itself; it would rather read the services of all deployments.
	text := `SELECT "organization_id", "service_arn" FROM (
			SELECT "organization_id", "service_arn", MIN("pending_since") AS "since" FROM ` + events + `
			GROUP BY "organization_id", "service_arn") AS "waiting"
		WHERE EXISTS (SELECT 1 FROM "deployments" AS "d" WHERE "d"."organization_id" = "waiting"."organization_id"
			AND "d"."service_arn" = "waiting"."service_arn" LIMIT 1 OFFSET 0)
		ORDER BY "since"`
	return s.ownedIDs(ctx, text+limited(limit), nil)
}

// EndedDeployment is a deployment that has ended.
type EndedDeployment struct {
	OwnedID
	CompletedAt time.Time
}

// UnfoldedDeployments returns at most limit deployments of all organizations that ended by a time and still have their
// details, in the order in which they ended, from one on. It is for the system.
func (s *Store) UnfoldedDeployments(
	ctx context.Context, after EndedDeployment, by time.Time, limit int,
) (found []EndedDeployment, err error) {
	d := entsql.Dialect(s.dialect).Table(deployment.Table)
	ended, id := d.C(deployment.FieldCompletedAt), d.C(deployment.FieldID)
	query, args := entsql.Dialect(s.dialect).Select(d.C(organizationColumn), id, ended).From(d).
		Where(entsql.And(
			entsql.IsNull(d.C(deployment.FieldDetailsFoldedAt)),
			entsql.LTE(ended, by),
			entsql.P(func(b *entsql.Builder) {
				b.WriteString("("+ended+", "+id+") > (").Args(after.CompletedAt, after.ID).WriteByte(')')
			}),
		)).
		OrderBy(ended, id).Limit(limit).Query()
	err = s.overAll(ctx, query, args, func(rows Rows) error {
		var e EndedDeployment
		err := rows.Scan(&e.OrganizationID, &e.ID, &e.CompletedAt)
		found = append(found, e)
		return err
	})
	return found, err
}

// sweep returns rows of all organizations at once by a time, the oldest first. What it finds is then changed in its own
// organization.
func (s *Store) sweep(ctx context.Context, table, column string, by time.Time, limit int) ([]OwnedID, error) {
	t := entsql.Dialect(s.dialect).Table(table)
	query, args := entsql.Dialect(s.dialect).Select(t.C("organization_id"), t.C("id")).From(t).
		Where(entsql.LTE(t.C(column), by)).
		OrderBy(t.C(column)).Limit(limit).Query()
	return s.ownedIDs(ctx, query, args)
}

func (s *Store) ownedIDs(ctx context.Context, query string, args []any) (found []OwnedID, err error) {
	err = s.overAll(ctx, query, args, func(rows Rows) error {
		var o OwnedID
		err := rows.Scan(&o.OrganizationID, &o.ID)
		found = append(found, o)
		return err
	})
	return found, err
}

var errNotSystem = errors.New("store: only the system looks over all organizations")

// overAll runs a statement that reads rows of all organizations. It is for the system; what is found is then read or
// changed in its own organization.
func (s *Store) overAll(ctx context.Context, query string, args []any, scan func(Rows) error) (err error) {
	if a := actor.From(ctx); a == nil || a.Role != actor.System {
		return errNotSystem
	}

	defer func() { err = s.storage.publicError(ctx, err) }()
	if s.traceSystem != nil {
		s.traceSystem(query, args)
	}

	run := s.reads.QueryContext
	if s.strict {
		tx, err := s.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { err = rollBack(tx, err) }()
		if _, err := tx.ExecContext(ctx, "SELECT set_config('app.isolation', 'filter', true)"); err != nil {
			return err
		}
		run = tx.QueryContext
	}

	rows, err := run(pgconn.Unwatched(ctx), query, args...)
	if err != nil {
		return err
	}

	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
