package page

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"slipway/internal/base/meter"
	"slipway/internal/data/record"
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
	c := connect(r, list, records, list.Count)
	c.searched = list.Truncated()
	return c, nil
}

// Parents are the records whose lists are read together. The list of a parent has the records with its id in Column.
type Parents struct {
	List   string
	Viewer string
	Column string
	IDs    []string
	// Filter has every other condition on the lists, and their order, as a text; "" for none.
	Filter string
	// Search is what is searched for in each list, nil for nothing.
	Search *string
}

// Scope returns what the cursors of a parent's list are valid for.
func (p Parents) Scope(id string) Scope {
	s := Scope{List: p.List, Viewer: p.Viewer, Filter: id}
	if p.Filter != "" {
		s.Filter = []string{id, p.Filter}
	}
	return s
}

// searchedTogether is how many records a search of one of several lists counts as, besides those that it looks at: each
// takes two statements.
const searchedTogether = 100

// searched returns what a search finds in one of several lists, the list itself for no search.
func searched[T any](ctx context.Context, list record.Query[T], text *string) (record.Query[T], error) {
	if text == nil {
		return list, nil
	}
	if err := meter.Spend(ctx, meter.Searched, searchedTogether); err != nil {
		return list, err
	}
	return list.Search(ctx, text)
}

// FilterText returns a text that differs for different filters, "" for one without conditions. A filter is a struct,
// and equal to another if its JSON is.
func FilterText(filter any) string {
	if reflect.ValueOf(filter).IsZero() {
		return ""
	}
	text, err := json.Marshal(filter)
	if err != nil {
		panic(fmt.Errorf("page: the filter is no JSON: %w", err))
	}
	return string(text)
}

// ReadEach returns a page of each parent's list, all of them read by one statement, unless something is searched for in
// them. parent returns the id of a record's parent.
func ReadEach[T any](
	ctx context.Context, all record.Query[T], of Parents, args Args, parent func(*T) string,
) (map[string]*Connection[*T], error) {
	pages := make(map[string]*Connection[*T], len(of.IDs))
	if args.After != nil || args.Before != nil || len(of.IDs) == 1 || of.Search != nil {
		// A cursor belongs to one list, so the lists cannot be read together; nor can what is searched.
		for _, id := range of.IDs {
			list, err := searched(ctx, all.Where(record.Equal(of.Column, id)), of.Search)
			if err != nil {
				return nil, err
			}
			c, err := Read(ctx, list, args, of.Scope(id))
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

	counts := countOnce(func(ctx context.Context) (map[string]int, error) {
		return all.CountChildren(ctx, of.Column, of.IDs)
	})
	for _, id := range of.IDs {
		r.binding = of.Scope(id).binding()
		pages[id] = connect(r, all, lists[id], func(ctx context.Context) (int, error) {
			all, err := counts(ctx)
			return all[id], err
		})
	}
	return pages, nil
}

// ReadKnown returns a page of each list whose records are known by their ids, the newest first. It reads all of them by
// one statement. The keys of the lists are the ids of their parents. It shows nothing of what was deleted meanwhile.
func ReadKnown[T any](
	ctx context.Context, all record.Query[T], of Parents, known map[string][]string, args Args,
) (map[string]*Connection[*T], error) {
	requests, wanted := make(map[string]request, len(of.IDs)), make(map[string][]string, len(of.IDs))
	var ids []string
	for _, parent := range of.IDs {
		r, err := args.request(of.Scope(parent))
		if err != nil {
			return nil, err
		}
		requests[parent], wanted[parent] = r, r.among(known[parent])
		ids = append(ids, wanted[parent]...)
	}

	byID, err := readByID(ctx, all, ids)
	if err != nil {
		return nil, err
	}

	pages := make(map[string]*Connection[*T], len(of.IDs))
	for _, parent := range of.IDs {
		var found []*T
		for _, id := range wanted[parent] {
			if record := byID[id]; record != nil {
				found = append(found, record)
			}
		}
		total := len(known[parent])
		pages[parent] = connect(requests[parent], all, found, func(context.Context) (int, error) {
			return total, nil
		})
	}
	return pages, nil
}

// ReadListed returns a page of each list whose records are known by their ids, in the order of these. It reads all of
// them by one statement. The keys of the lists are the ids of their parents. It shows nothing of what was deleted
// meanwhile.
func ReadListed[T any](
	ctx context.Context, all record.Query[T], of Parents, known map[string][]string, args Args,
) (map[string]*Connection[*T], error) {
	listed := make(map[string]*Connection[string], len(of.IDs))
	var ids []string
	for _, parent := range of.IDs {
		c, err := Slice(known[parent], args, of.Scope(parent))
		if err != nil {
			return nil, err
		}
		listed[parent] = c
		ids = append(ids, c.Nodes()...)
	}

	byID, err := readByID(ctx, all, ids)
	if err != nil {
		return nil, err
	}

	pages := make(map[string]*Connection[*T], len(of.IDs))
	for parent, c := range listed {
		pages[parent] = pick(c, byID)
	}
	return pages, nil
}

// readByID returns the records of ids that there are, by these.
func readByID[T any](ctx context.Context, all record.Query[T], ids []string) (map[string]*T, error) {
	slices.Sort(ids)
	records, err := all.ByIDs(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*T, len(records))
	for _, record := range records {
		byID[all.Position(record).ID] = record
	}
	return byID, nil
}

// pick returns the page of the records that are there of a page of ids.
func pick[T any](c *Connection[string], byID map[string]*T) *Connection[*T] {
	picked := &Connection[*T]{PageInfo: c.PageInfo, Size: c.Size, byDefault: c.byDefault, count: c.count}
	for _, e := range c.Edges {
		if record := byID[e.Node]; record != nil {
			picked.Edges = append(picked.Edges, &Edge[*T]{Cursor: e.Cursor, Node: record})
		}
	}
	return picked
}

// SliceEach returns a page of each of some lists in memory, in their order. The keys of the lists are the ids of their
// parents.
func SliceEach[T any](of Parents, lists map[string][]T, args Args) (map[string]*Connection[T], error) {
	pages := make(map[string]*Connection[T], len(of.IDs))
	for _, parent := range of.IDs {
		c, err := Slice(lists[parent], args, of.Scope(parent))
		if err != nil {
			return nil, err
		}
		pages[parent] = c
	}
	return pages, nil
}

// among returns which of the ids of a list, the newest first, the page is made of. It has one more than asked for if
// there is a next page, and begins with the oldest if it goes backward.
func (r request) among(ids []string) (part []string) {
	for _, id := range ids {
		if (r.after == nil || id < r.after.id) && (r.before == nil || id > r.before.id) {
			part = append(part, id)
		}
	}
	if r.backward {
		slices.Reverse(part)
	}
	return part[:min(len(part), r.size+1)]
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
	return &record.Position{At: p.at, Text: p.name, ID: p.id}
}

// connect returns the page of its records, which may be one more than was asked for.
func connect[T any](
	r request, list record.Query[T], records []*T, count func(context.Context) (int, error),
) *Connection[*T] {
	more := len(records) > r.size
	if more {
		records = records[:r.size]
	}

	info := &Info{HasNextPage: more, HasPreviousPage: r.after != nil}
	if r.backward {
		slices.Reverse(records)
		info.HasNextPage, info.HasPreviousPage = r.before != nil, more
	}

	c := &Connection[*T]{
		Edges:    make([]*Edge[*T], len(records)),
		PageInfo: info, Size: r.size, byDefault: r.byDefault, count: count,
	}
	edges := make([]Edge[*T], len(records))
	for i, row := range records {
		at := list.Position(row)
		edges[i] = Edge[*T]{Cursor: r.binding.write(position{at: at.At, name: at.Text, id: at.ID}), Node: row}
		c.Edges[i] = &edges[i]
	}

	if len(records) > 0 {
		info.StartCursor, info.EndCursor = &edges[0].Cursor, &edges[len(records)-1].Cursor
	}
	return c
}
