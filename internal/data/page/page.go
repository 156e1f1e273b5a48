// Package page reads lists in pages, newest first. It uses keyset pagination: a cursor has the sort keys of a record,
// and the next page is what follows these keys. So a page costs the same wherever it is in the list, and does not shift
// when records are added.
package page

import (
	"context"
	"strconv"

	"slipway/internal/base/fault"
)

// MaxSize is the largest page.
const MaxSize = 100

// defaultSize returns the size of a page of a list if the caller asks for none.
func defaultSize(list string) int {
	switch list {
	case "moduleDefinitions":
		return 50 // as over REST
	case "environments":
		return 10
	default:
		return 20
	}
}

// Args are the arguments of a connection.
type Args struct {
	First  *int32
	After  *string
	Last   *int32
	Before *string
}

// Info is the position of a page in its list.
type Info struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// Edge is a record in a list, and its cursor.
type Edge[T any] struct {
	Cursor string
	Node   T
}

// Connection is one page.
type Connection[T any] struct {
	Edges    []*Edge[T]
	PageInfo *Info
	// Size is how many records were asked for.
	Size int
	// FeedCursor is the place in the feed of changes from before the page was read; empty if nobody asked for it.
	FeedCursor string

	byDefault bool
	// searched is whether the list is a search that did not look at all records.
	searched bool
	count    func(context.Context) (int, error)
}

// Truncated reports whether there is more than the caller may think. Either the list continues after the page and the
// caller has not asked for a size, or it is a search that did not look at all records.
func (c *Connection[T]) Truncated() bool {
	return c != nil && (c.byDefault && c.PageInfo.HasNextPage || c.searched)
}

// Nodes returns the records of the page.
func (c *Connection[T]) Nodes() []T {
	nodes := make([]T, len(c.Edges))
	for i, e := range c.Edges {
		nodes[i] = e.Node
	}
	return nodes
}

// TotalCount returns the number of records on all pages. It queries the database each time it is called.
func (c *Connection[T]) TotalCount(ctx context.Context) (int32, error) {
	n, err := c.count(ctx)
	return int32(n), err
}

// request is a page that was asked for, with its cursors decoded.
type request struct {
	size          int
	byDefault     bool
	backward      bool
	after, before *position
	binding       binding
}

// request checks the arguments and decodes the cursors.
func (a Args) request(scope Scope) (request, error) {
	r := request{size: defaultSize(scope.List), byDefault: a.First == nil && a.Last == nil, binding: scope.binding()}

	var err error
	switch {
	case a.First != nil && a.Last != nil:
		return r, fault.New(fault.RequestInvalid, "Give first or last, not both.")
	case a.First != nil:
		r.size, err = size("first", *a.First)
	case a.Last != nil:
		r.backward = true
		r.size, err = size("last", *a.Last)
	}
	if err != nil {
		return r, err
	}

	if r.after, err = r.binding.read("after", a.After); err != nil {
		return r, err
	}
	r.before, err = r.binding.read("before", a.Before)
	return r, err
}

func size(name string, n int32) (int, error) {
	if n < 1 || n > MaxSize {
		return 0, fault.New(fault.RequestInvalid, "%s must be between 1 and %d, got %d.", name, MaxSize, n)
	}
	return int(n), nil
}

// String returns a text that is different for different arguments.
func (a Args) String() string {
	text := ""
	for _, n := range []*int32{a.First, a.Last} {
		if n != nil {
			text += strconv.Itoa(int(*n))
		}
		text += ";"
	}
	for _, c := range []*string{a.After, a.Before} {
		if c != nil {
			text += strconv.Quote(*c)
		}
		text += ";"
	}
	return text
}
