package page

import (
	"context"
	"strconv"
)

// Map returns the same page with f of each record.
func Map[T, U any](c *Connection[T], f func(T) (U, error)) (*Connection[U], error) {
	mapped := &Connection[U]{
		Edges:    make([]*Edge[U], len(c.Edges)),
		PageInfo: c.PageInfo, Size: c.Size, byDefault: c.byDefault, count: c.count,
	}
	for i, e := range c.Edges {
		node, err := f(e.Node)
		if err != nil {
			return nil, err
		}
		mapped.Edges[i] = &Edge[U]{Cursor: e.Cursor, Node: node}
	}
	return mapped, nil
}

// Slice returns one page of a list in memory, in its order.
func Slice[T any](items []T, args Args, scope Scope) (*Connection[T], error) {
	r, err := args.request(scope)
	if err != nil {
		return nil, err
	}

	from, to := 0, len(items)
	if r.after != nil {
		from = min(index(r.after)+1, len(items))
	}
	if r.before != nil {
		to = max(from, min(index(r.before), len(items)))
	}

	info := &Info{HasNextPage: r.before != nil, HasPreviousPage: r.after != nil}
	switch {
	case r.backward && to-from > r.size:
		from, info.HasPreviousPage = to-r.size, true
	case !r.backward && to-from > r.size:
		to, info.HasNextPage = from+r.size, true
	}

	all := len(items)
	c := &Connection[T]{
		PageInfo: info, Size: r.size, byDefault: r.byDefault,
		count: func(context.Context) (int, error) { return all, nil },
	}
	for i := from; i < to; i++ {
		c.Edges = append(c.Edges, &Edge[T]{Cursor: r.binding.write(position{id: strconv.Itoa(i)}), Node: items[i]})
	}

	if len(c.Edges) > 0 {
		info.StartCursor, info.EndCursor = &c.Edges[0].Cursor, &c.Edges[len(c.Edges)-1].Cursor
	}
	return c, nil
}

// index returns the index in a cursor of Slice, -1 if the cursor was tampered with.
func index(p *position) int {
	i, err := strconv.Atoi(p.id)
	if err != nil || i < 0 {
		return -1
	}
	return i
}
