package page

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"
)

// Query is a query builder of ent's.
type Query[Q, T any, P, O ~func(*sql.Selector)] interface {
	Where(...P) Q
	Order(...O) Q
	Limit(int) Q
	Clone() Q
	All(context.Context) ([]*T, error)
	Count(context.Context) (int, error)
}

// Key returns the sort keys of a record.
type Key[T any] func(*T) (createdAt time.Time, id string)

// Read reads one page of a query. The query has its conditions and no order.
func Read[Q Query[Q, T, P, O], T any, P, O ~func(*sql.Selector)](
	ctx context.Context, q Q, args Args, scope Scope, key Key[T],
) (*Connection[*T], error) {
	r, err := args.request(scope)
	if err != nil {
		return nil, err
	}
	counted := q.Clone()
	// One row more than asked for shows whether there is a next page.
	for _, c := range r.conditions() {
		q = q.Where(c)
	}
	rows, err := q.Order(r.order).Limit(r.size + 1).All(ctx)
	if err != nil {
		return nil, err
	}
	return connect(r, rows, key, func(ctx context.Context) (int, error) { return counted.Clone().Count(ctx) }), nil
}

// conditions returns the conditions that rows are after or before the cursors. The comparison of rows is one range of
// the index on (…, created_at DESC, id DESC).
func (r request) conditions() []func(*sql.Selector) {
	var list []func(*sql.Selector)
	if r.after != nil {
		list = append(list, func(s *sql.Selector) {
			s.Where(sql.CompositeLT([]string{s.C("created_at"), s.C("id")}, r.after.at, r.after.id))
		})
	}
	if r.before != nil {
		list = append(list, func(s *sql.Selector) {
			s.Where(sql.CompositeGT([]string{s.C("created_at"), s.C("id")}, r.before.at, r.before.id))
		})
	}
	return list
}

func (r request) order(s *sql.Selector) {
	if r.backward {
		s.OrderBy(s.C("created_at"), s.C("id"))
		return
	}
	s.OrderBy(sql.Desc(s.C("created_at")), sql.Desc(s.C("id")))
}

// connect returns the page of its rows, which may be one more than was asked for.
func connect[T any](r request, rows []*T, key Key[T], count func(context.Context) (int, error)) *Connection[*T] {
	more := len(rows) > r.size
	if more {
		rows = rows[:r.size]
	}
	info := &Info{HasNextPage: more, HasPreviousPage: r.after != nil}
	if r.backward {
		slices.Reverse(rows)
		info.HasNextPage, info.HasPreviousPage = r.before != nil, more
	}
	c := &Connection[*T]{Edges: make([]*Edge[*T], len(rows)), PageInfo: info, Size: r.size, byDefault: r.byDefault, count: count}
	for i, row := range rows {
		at, id := key(row)
		c.Edges[i] = &Edge[*T]{Cursor: r.binding.write(position{at, id}), Node: row}
	}
	if len(rows) > 0 {
		info.StartCursor, info.EndCursor = &c.Edges[0].Cursor, &c.Edges[len(rows)-1].Cursor
	}
	return c
}
