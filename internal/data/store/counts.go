package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"slipway/ent/auditevent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
)

// Counts are numbers of all organizations together.
type Counts struct {
	// Pending and Running are the deployments that have not ended, without those that were started outside.
	Pending, Running int
	// Awaiting are those that wait for approvals.
	Awaiting int
	// OldestPending is how long the oldest PENDING deployment has been waiting, 0 if there is none.
	OldestPending time.Duration
	// LateLeases are the RUNNING deployments whose lease has run out a time ago.
	LateLeases int
	// Drifted are the instances that have drifted.
	Drifted int
	// AuditRows is how many rows the audit has, by the statistics of the database.
	AuditRows int64
}

// Count returns the counts at a time, and of leases those that have run out longer ago than late. It is for the system.
// Each number is read from an index that has no other rows, or from what the database knows in any case.
func (s *Store) Count(ctx context.Context, at time.Time, late time.Duration) (c Counts, err error) {
	for _, count := range []func(context.Context, time.Time, time.Duration, *Counts) error{
		s.countUnended, s.countAwaiting, s.countLate, s.countDrifted, s.countAudit,
	} {
		if err := count(ctx, at, late, &c); err != nil {
			return Counts{}, err
		}
	}
	return c, nil
}

func (s *Store) countUnended(ctx context.Context, at time.Time, _ time.Duration, c *Counts) error {
	d := entsql.Dialect(s.dialect).Table(deployment.Table)
	query, args := entsql.Dialect(s.dialect).
		Select(d.C(deployment.FieldStatus), entsql.Count("*"), entsql.Min(d.C(deployment.FieldCreatedAt))).
		From(d).
		Where(entsql.ExprP(InProgress(""))).
		GroupBy(d.C(deployment.FieldStatus)).
		Query()

	return s.overAll(ctx, query, args, func(rows Rows) error {
		var status deployment.Status
		var n int
		var oldest aggregateTime
		if err := rows.Scan(&status, &n, &oldest); err != nil {
			return err
		}

		switch status {
		case deployment.StatusPENDING:
			c.Pending, c.OldestPending = n, max(at.Sub(oldest.Time), 0)
		case deployment.StatusRUNNING:
			c.Running = n
		case deployment.StatusAWAITING_APPROVAL,
			deployment.StatusSUCCEEDED, deployment.StatusFAILED, deployment.StatusCANCELED:
		}
		return nil
	})
}

func (s *Store) countAwaiting(ctx context.Context, _ time.Time, _ time.Duration, c *Counts) error {
	d := entsql.Dialect(s.dialect).Table(deployment.Table)
	query, args := entsql.Dialect(s.dialect).Select(entsql.Count("*")).From(d).
		// In the words of the index, which has these alone.
		Where(entsql.And(
			entsql.ExprP(`status = 'AWAITING_APPROVAL'`),
			entsql.NotNull(d.C(deployment.FieldWaitsUntil)),
		)).
		Query()
	return s.overAll(ctx, query, args, func(rows Rows) error { return rows.Scan(&c.Awaiting) })
}

func (s *Store) countLate(ctx context.Context, at time.Time, late time.Duration, c *Counts) error {
	d := entsql.Dialect(s.dialect).Table(deployment.Table)
	query, args := entsql.Dialect(s.dialect).Select(entsql.Count("*")).From(d).
		Where(entsql.LTE(d.C(deployment.FieldLeaseExpiresAt), at.Add(-late))).Query()
	return s.overAll(ctx, query, args, func(rows Rows) error { return rows.Scan(&c.LateLeases) })
}

func (s *Store) countDrifted(ctx context.Context, _ time.Time, _ time.Duration, c *Counts) error {
	i := entsql.Dialect(s.dialect).Table(moduleinstance.Table)
	query, args := entsql.Dialect(s.dialect).Select(entsql.Count("*")).From(i).
		// The second, which all have, has PostgreSQL without statistics follow the index that has the drifted alone.
		Where(entsql.And(
			entsql.NotNull(i.C(moduleinstance.FieldDriftKind)),
			entsql.GT(i.C(moduleinstance.FieldOrganizationID), ""),
		)).
		Query()
	return s.overAll(ctx, query, args, func(rows Rows) error { return rows.Scan(&c.Drifted) })
}

// countAudit counts no rows, because they are many. PostgreSQL has their number in its statistics; after a crash, that
// is the number at the last vacuum. SQLite loses the oldest rows and none between, so there it is the distance between
// the numbers of the first and the last.
func (s *Store) countAudit(ctx context.Context, _ time.Time, _ time.Duration, c *Counts) error {
	query := `SELECT COALESCE((SELECT MAX("rowid") FROM "` + auditevent.Table + `") - ` +
		`(SELECT MIN("rowid") FROM "` + auditevent.Table + `") + 1, 0)`
	if s.Postgres() {
		query = `SELECT GREATEST(pg_stat_get_live_tuples("oid"), "reltuples"::bigint, 0) FROM "pg_class" ` +
			`WHERE "oid" = '` + auditevent.Table + `'::regclass`
	}
	return s.overAll(ctx, query, nil, func(rows Rows) error { return rows.Scan(&c.AuditRows) })
}

// aggregateTime is a time that an aggregate function returns, of which SQLite's driver does not know the type.
type aggregateTime struct{ time.Time }

// Scan implements sql.Scanner.
func (t *aggregateTime) Scan(value any) error {
	text, isText := value.(string)
	if !isText {
		var found sql.NullTime
		err := found.Scan(value)
		t.Time = found.Time
		return err
	}
	for _, layout := range []string{"2006-01-02 15:04:05.999999999 -0700 MST", "2006-01-02 15:04:05.999999999-07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			t.Time = at
			return nil
		}
	}
	return fmt.Errorf("store: %.40q is no time", text)
}
