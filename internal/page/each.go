package page

import (
	"context"
	"sync"

	"entgo.io/ent/dialect/sql"
)

// Parents are the records whose lists are read together: each list has the rows whose column names its
// parent.
type Parents struct {
	List   string
	Viewer string
	Column string
	IDs    []string
	// Shared says that rows without an organization belong to the lists, too.
	Shared bool
}

// ReadEach reads a page of each parent's list, all in one statement. query makes a query without
// conditions, and parent gives the parent that a row belongs to.
func ReadEach[Q countable[Q, T, P, O, S], T any, P, O ~func(*sql.Selector), S scanner](
	ctx context.Context, query func() Q, of Parents, args Args, key Key[T], parent func(*T) string,
) (map[string]*Connection[*T], error) {
	pages := make(map[string]*Connection[*T], len(of.IDs))
	if args.After != nil || args.Before != nil || len(of.IDs) == 1 {
		// A cursor belongs to one list, so there is but one that it can be for.
		for _, id := range of.IDs {
			c, err := Read(ctx, query().Where(P(sql.FieldEQ(of.Column, id))), args, of.scope(id), key)
			if err != nil {
				return nil, err
			}
			pages[id] = c
		}
		return pages, nil
	}
	r, err := args.request(Scope{List: of.List})
	if err != nil {
		return nil, err
	}
	rows, err := query().Where(r.firstOfEach(of)).Order(r.order).All(ctx)
	if err != nil {
		return nil, err
	}
	rowsOf := make(map[string][]*T, len(of.IDs))
	for _, row := range rows {
		rowsOf[parent(row)] = append(rowsOf[parent(row)], row)
	}
	counts := countEach(query, of)
	for _, id := range of.IDs {
		r.binding = of.scope(id).binding()
		pages[id] = connect(r, rowsOf[id], key, func(ctx context.Context) (int, error) {
			all, err := counts(ctx)
			return all[id], err
		})
	}
	return pages, nil
}

// countable is a query that can select what it counts.
type countable[Q, T any, P, O ~func(*sql.Selector), S scanner] interface {
	Query[Q, T, P, O]
	Modify(...func(*sql.Selector)) S
}

type scanner interface {
	Scan(ctx context.Context, v any) error
}

// countEach counts every parent's list in one statement, when the first count is asked for.
func countEach[Q countable[Q, T, P, O, S], T any, P, O ~func(*sql.Selector), S scanner](
	query func() Q, of Parents,
) func(context.Context) (map[string]int, error) {
	var once sync.Once
	var counts map[string]int
	var failure error
	return func(ctx context.Context) (map[string]int, error) {
		once.Do(func() {
			var rows []struct {
				Parent string
				Count  int
			}
			failure = query().Where(P(sql.FieldIn(of.Column, of.IDs...))).Modify(func(s *sql.Selector) {
				s.Select(sql.As(s.C(of.Column), "parent"), sql.As(sql.Count("*"), "count")).GroupBy(s.C(of.Column))
			}).Scan(ctx, &rows)
			counts = make(map[string]int, len(rows))
			for _, row := range rows {
				counts[row.Parent] = row.Count
			}
		})
		return counts, failure
	}
}

func (p Parents) scope(id string) Scope { return Scope{List: p.List, Viewer: p.Viewer, Filter: id} }

// firstOfEach keeps the first rows of each parent, and one more of each.
func (r request) firstOfEach(of Parents) func(*sql.Selector) {
	return func(s *sql.Selector) {
		ids := make([]any, len(of.IDs))
		for i, id := range of.IDs {
			ids[i] = id
		}
		d := sql.Dialect(s.Dialect())
		t := d.Table(s.TableName())
		order := sql.DescExpr
		if r.backward {
			order = func(x sql.Querier) sql.Querier { return x }
		}
		ranked := d.Select(t.C("id")).
			AppendSelectExprAs(sql.RowNumber().PartitionBy(t.C(of.Column)).
				OrderExpr(order(sql.Raw(t.C("created_at"))), order(sql.Raw(t.C("id")))), "place").
			From(t).
			Where(sql.And(of.visible(t), sql.In(t.C(of.Column), ids...))).
			As("ranked")
		s.Where(sql.In(s.C("id"), d.Select(ranked.C("id")).From(ranked).Where(sql.LTE(ranked.C("place"), r.size+1))))
	}
}

func (p Parents) visible(t *sql.SelectTable) *sql.Predicate {
	own := sql.EQ(t.C("organization_id"), p.Viewer)
	if p.Shared {
		return sql.Or(own, sql.IsNull(t.C("organization_id")))
	}
	return own
}
