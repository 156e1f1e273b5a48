package store

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"slipway/ent"
	"slipway/ent/deployment"
	"slipway/ent/moduleinstance"
	"slipway/internal/base/actor"
)

// Claim is what a runner asks for that looks for work, and the lease that it gets.
type Claim struct {
	// Kinds are those of the deployments that it carries out.
	Kinds []string
	// Destroys is whether it carries out deployments that destroy, and OnlyDestroys whether no others.
	Destroys, OnlyDestroys bool
	// Scope is where it carries deployments out, nil for everywhere in the organization.
	Scope *actor.Scope
	// Runner is its name, and RunnerID the id of its token, nil for none.
	Runner   string
	RunnerID *string
	// LeaseID is what it will prove the claim by, until ExpiresAt.
	LeaseID       string
	At, ExpiresAt time.Time
}

// ClaimDeployment sets the oldest PENDING deployment of the kinds RUNNING and returns its id, "" where
// there is none. It is one statement, because ent cannot lock rows on SQLite; on PostgreSQL it passes
// over what another transaction is about to claim. Its fence is the one after the instance's, which is raised
// to it: nobody else can claim a deployment of the instance before the transaction has ended. The ids of a scope are
// conditions on the one walk along the index; a look-up for each of them would lock as many rows that others wait for.
func (s *Store) ClaimDeployment(ctx context.Context, tx *ent.Tx, c Claim) (id string, err error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return "", err
	}

	d := sql.Dialect(s.dialect)
	t, i := d.Table(deployment.Table), d.Table(moduleinstance.Table)
	oldest := s.oldestPending(scope, t, c)
	nextFence := d.Select().
		AppendSelectExpr(sql.ExprFunc(func(b *sql.Builder) {
			b.Ident(i.C(moduleinstance.FieldFence)).WriteString(" + 1")
		})).
		From(i).
		Where(sql.And(
			sql.EQ(i.C(moduleinstance.FieldOrganizationID), scope),
			sql.ColumnsEQ(i.C(moduleinstance.FieldID), t.C(deployment.FieldModuleInstanceID)),
		))

	query, args := d.Update(deployment.Table).
		Set(deployment.FieldStatus, string(deployment.StatusRUNNING)).
		Set(deployment.FieldRunner, c.Runner).
		Set(deployment.FieldRunnerActor, c.RunnerID).
		Set(deployment.FieldLeaseID, c.LeaseID).
		Set(deployment.FieldLeaseExpiresAt, c.ExpiresAt).
		Set(deployment.FieldStartedAt, c.At).
		Set(deployment.FieldUpdatedAt, c.At).
		Set(deployment.FieldFence, sql.ExprFunc(func(b *sql.Builder) {
			b.Wrap(func(b *sql.Builder) { b.Join(nextFence) })
		})).
		Add(deployment.FieldVersion, 1).
		Where(sql.And(sql.EQ(deployment.FieldOrganizationID, scope), equals(deployment.FieldID, oldest))).
		Returning(deployment.FieldID, deployment.FieldModuleInstanceID, deployment.FieldFence).
		Query()
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return "", err
	}

	var instanceID string
	var fence int64
	if rows.Next() {
		err = rows.Scan(&id, &instanceID, &fence)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil || id == "" {
		return "", err
	}

	return id, tx.ModuleInstance.Update().Where(moduleinstance.ID(instanceID)).SetFence(fence).Exec(ctx)
}

// oldestPending returns the statement that reads the id of the deployment of t that a claim is to take.
func (s *Store) oldestPending(scope string, t *sql.SelectTable, c Claim) *sql.Selector {
	oldest := sql.Dialect(s.dialect).Select(t.C(deployment.FieldID)).From(t).
		Where(sql.And(
			sql.EQ(t.C(deployment.FieldOrganizationID), scope),
			// As a text and no argument: no plan could take the index for an argument.
			sql.ExprP(t.C(deployment.FieldStatus)+" = 'PENDING'"),
			oneOf(t.C(deployment.FieldDeploymentType), c.Kinds),
		)).
		OrderBy(t.C(deployment.FieldCreatedAt), t.C(deployment.FieldID)).
		Limit(1)
	c.narrow(oldest, t)

	if s.dialect == dialect.Postgres {
		oldest.ForUpdate(sql.WithLockAction(sql.SkipLocked))
	} else {
		oldest.FromExpr(pendingTable())
	}
	return oldest
}

// narrow leaves out of the deployments of t what the claim is not for: other actions, and other places.
func (c Claim) narrow(oldest *sql.Selector, t *sql.SelectTable) {
	switch source := t.C(deployment.FieldTriggerSource); {
	case !c.Destroys:
		oldest.Where(sql.NEQ(source, TriggerDestroy))
	case c.OnlyDestroys:
		oldest.Where(sql.EQ(source, TriggerDestroy))
	}
	if c.Scope != nil {
		oldest.Where(sql.Or(
			oneOf(t.C(deployment.FieldProjectID), c.Scope.Projects),
			oneOf(t.C(deployment.FieldEnvironmentID), c.Scope.Environments),
		))
	}
}

// What starts deployments that statements tell from others: TriggerDestroy one that destroys, TriggerEvent one outside.
const (
	TriggerDestroy = "destroy"
	TriggerEvent   = "event"
)

// pendingTable returns SQLite's table of deployments by the index of those that are PENDING alone. SQLite keeps no
// statistics. It takes the index of a type for as good, and would read all deployments of the type.
func pendingTable() sql.Querier {
	return sql.Raw("`" + deployment.Table + "` INDEXED BY `deployment_pending`")
}

// oneOf returns column IN (…), false for no values.
func oneOf(column string, values []string) *sql.Predicate {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return sql.In(column, args...)
}

// equals returns column = (SELECT …). With IN, PostgreSQL may run the subquery once for each row of the table,
// and lock another row each time.
func equals(column string, s *sql.Selector) *sql.Predicate {
	return sql.P(func(b *sql.Builder) {
		b.Ident(column).WriteOp(sql.OpEQ).Wrap(func(b *sql.Builder) { b.Join(s) })
	})
}
