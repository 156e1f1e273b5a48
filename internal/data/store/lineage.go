package store

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"slipway/ent/deployment"
)

// Link is that one deployment goes back to another: by a replay, by a replay of a replay, and so on.
type Link struct {
	// Of is the id of the deployment whose history it is, and ID that of the earlier one.
	Of string `json:"of"`
	ID string `json:"id"`
}

// Lineage follows what each deployment replays back to the first, at most depth steps. The links of each
// come in order, the nearest first. It is one statement; what is not the actor's organization's ends
// a line as if it were not there.
func (s *Store) Lineage(ctx context.Context, ids []string, depth int) ([]Link, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	var links []Link
	err = s.Client.Deployment.Query().Modify(func(q *sql.Selector) {
		line := lines(q.Dialect(), scope, ids, depth)
		q.Prefix(line).Join(line).On(line.C(lineID), q.C(deployment.FieldID)).
			Select(sql.As(line.C(lineOf), "of"), q.C(deployment.FieldID)).
			OrderBy(line.C(lineOf), line.C(lineStep))
	}).Scan(ctx, &links)
	if err != nil {
		return nil, fmt.Errorf("store: lineage: %w", err)
	}
	return links, nil
}

// The columns of lines.
const (
	lineOf   = "line_of"
	lineID   = "line_id"
	lineStep = "line_step"
)

// lines returns the recursive view of the steps back from each deployment, each step within the scope.
func lines(name, scope string, ids []string, depth int) *sql.WithBuilder {
	d := sql.Dialect(name)
	of := func(t *sql.SelectTable) *sql.Predicate {
		return owned(name, t.C(deployment.FieldOrganizationID), scope)
	}
	first, next := d.Table(deployment.Table).As("first_of"), d.Table(deployment.Table).As("next_of")
	starts := make([]any, len(ids))
	for i := range ids {
		starts[i] = ids[i]
	}
	line := sql.WithRecursive("line", lineOf, lineID, lineStep)
	line.SetDialect(name)
	begin := d.SelectExpr(sql.Raw(first.C(deployment.FieldID)), replays(first), sql.Raw("1")).From(first).
		Where(sql.And(of(first), sql.In(first.C(deployment.FieldID), starts...)))
	back := d.SelectExpr(sql.Raw(line.C(lineOf)), replays(next), sql.Raw(line.C(lineStep)+" + 1")).From(next).
		Join(line).On(line.C(lineID), next.C(deployment.FieldID)).
		Where(sql.And(of(next), sql.LT(line.C(lineStep), depth)))
	return line.As(begin.UnionAll(back))
}

// replays returns the id of what a deployment replays, null for none.
func replays(t *sql.SelectTable) sql.Querier {
	return sql.Raw("COALESCE(" + t.C(deployment.FieldRollbackToDeploymentID) + ", " +
		t.C(deployment.FieldRedeployOfDeploymentID) + ")")
}
