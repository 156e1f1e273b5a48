package page

import (
	"context"
	"slices"
	"sync"

	"slipway/internal/record"
)

// Read returns one page of a list.
func Read[T any](ctx context.Context, list record.Query[T], args Args, scope Scope) (*Connection[*T], error) {
	r, err := args.request(scope)
	if err != nil {
		return nil, err
	}
	records, err := list.Range(ctx, r.records())
	if err != nil {
		return nil, err
	}
	return connect(r, list.Table(), records, list.Count), nil
}

// Parents are the records whose lists are read together. The list of a parent has the records with its id in Column.
type Parents struct {
	List   string
	Viewer string
	Column string
	IDs    []string
}

func (p Parents) scope(id string) Scope { return Scope{List: p.List, Viewer: p.Viewer, Filter: id} }

// ReadEach returns a page of each parent's list, all of them read by one statement. parent returns the id of a record's
// parent.
func ReadEach[T any](ctx context.Context, all record.Query[T], of Parents, args Args, parent func(*T) string) (map[string]*Connection[*T], error) {
	pages := make(map[string]*Connection[*T], len(of.IDs))
	if args.After != nil || args.Before != nil || len(of.IDs) == 1 {
		// A cursor belongs to one list, so the lists cannot be read together.
		for _, id := range of.IDs {
			c, err := Read(ctx, all.Where(record.Equal(of.Column, id)), args, of.scope(id))
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
	lists, err := all.Children(ctx, of.Column, of.IDs, r.records(), parent)
	if err != nil {
		return nil, err
	}
	counts := countOnce(func(ctx context.Context) (map[string]int, error) { return all.CountChildren(ctx, of.Column, of.IDs) })
	for _, id := range of.IDs {
		r.binding = of.scope(id).binding()
		pages[id] = connect(r, all.Table(), lists[id], func(ctx context.Context) (int, error) {
			all, err := counts(ctx)
			return all[id], err
		})
	}
	return pages, nil
}

// countOnce returns a function that counts the lists of all parents the first time it is called.
func countOnce(count func(context.Context) (map[string]int, error)) func(context.Context) (map[string]int, error) {
	var once sync.Once
	var counts map[string]int
	var failure error
	return func(ctx context.Context) (map[string]int, error) {
		once.Do(func() { counts, failure = count(ctx) })
		return counts, failure
	}
}

// records returns the part of a list that the page is made of. One record more than asked for shows whether there is a
// next page.
func (r request) records() record.Range {
	return record.Range{After: r.after.record(), Before: r.before.record(), Limit: r.size + 1, Backward: r.backward}
}

func (p *position) record() *record.Position {
	if p == nil {
		return nil
	}
	return &record.Position{At: p.at, ID: p.id}
}

// connect returns the page of its records, which may be one more than was asked for.
func connect[T any](r request, table *record.Table[T], records []*T, count func(context.Context) (int, error)) *Connection[*T] {
	more := len(records) > r.size
	if more {
		records = records[:r.size]
	}
	info := &Info{HasNextPage: more, HasPreviousPage: r.after != nil}
	if r.backward {
		slices.Reverse(records)
		info.HasNextPage, info.HasPreviousPage = r.before != nil, more
	}
	c := &Connection[*T]{Edges: make([]*Edge[*T], len(records)), PageInfo: info, Size: r.size, byDefault: r.byDefault, count: count}
	edges := make([]Edge[*T], len(records))
	for i, row := range records {
		at, id := table.Position(row)
		edges[i] = Edge[*T]{Cursor: r.binding.write(position{at, id}), Node: row}
		c.Edges[i] = &edges[i]
	}
	if len(records) > 0 {
		info.StartCursor, info.EndCursor = &edges[0].Cursor, &edges[len(records)-1].Cursor
	}
	return c
}
