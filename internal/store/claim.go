package store

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
)

// Claim is a runner that looks for work.
type Claim struct {
	// Kinds are those of the deployments that it carries out.
	Kinds []string
	// Runner is its name.
	Runner string
	// LeaseID is what it will prove the claim by, until ExpiresAt.
	LeaseID       string
	At, ExpiresAt time.Time
}

// ClaimDeployment sets the oldest PENDING deployment of the kinds RUNNING and gives its id, "" where
// there is none. It is one statement, because ent cannot lock rows on SQLite; on PostgreSQL it passes
// over what another transaction is about to claim.
func (s *Store) ClaimDeployment(ctx context.Context, tx *ent.Tx, c Claim) (id string, err error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return "", err
	}
	kinds := make([]any, len(c.Kinds))
	for i, k := range c.Kinds {
		kinds[i] = k
	}
	d := sql.Dialect(s.dialect)
	t := d.Table(deployment.Table)
	oldest := d.Select(t.C(deployment.FieldID)).From(t).
		Where(sql.And(
			sql.EQ(t.C(deployment.FieldOrganizationID), scope),
			sql.EQ(t.C(deployment.FieldStatus), string(deployment.StatusPENDING)),
			sql.In(t.C(deployment.FieldDeploymentType), kinds...),
		)).
		OrderBy(t.C(deployment.FieldCreatedAt), t.C(deployment.FieldID)).
		Limit(1)
	if s.dialect == dialect.Postgres {
		oldest.ForUpdate(sql.WithLockAction(sql.SkipLocked))
	}
	query, args := d.Update(deployment.Table).
		Set(deployment.FieldStatus, string(deployment.StatusRUNNING)).
		Set(deployment.FieldRunner, c.Runner).
		Set(deployment.FieldLeaseID, c.LeaseID).
		Set(deployment.FieldLeaseExpiresAt, c.ExpiresAt).
		Set(deployment.FieldStartedAt, c.At).
		Set(deployment.FieldUpdatedAt, c.At).
		Add(deployment.FieldVersion, 1).
		Where(sql.And(sql.EQ(deployment.FieldOrganizationID, scope), only(deployment.FieldID, oldest))).
		Returning(deployment.FieldID).
		Query()
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return "", err
	}
	if rows.Next() {
		err = rows.Scan(&id)
	}
	return id, errors.Join(err, rows.Err(), rows.Close())
}

// only is column = (SELECT …). With IN, PostgreSQL may run the subquery once for each row of the table,
// and lock another row each time.
func only(column string, s *sql.Selector) *sql.Predicate {
	return sql.P(func(b *sql.Builder) {
		b.Ident(column).WriteOp(sql.OpEQ).Wrap(func(b *sql.Builder) { b.Join(s) })
	})
}
