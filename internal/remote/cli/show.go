package cli

import (
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"slipway/internal/base/setting"
	"slipway/internal/base/strictjson"
	"slipway/internal/remote/client"
)

// want makes sure that the fields that are to be shown are there, before anything is asked or done.
func want[T any](s *session, v view[T]) error {
	s.out.shape = v.shape()
	return s.out.shape.check(s.out.fields)
}

// show writes a record as the result; want was called before.
func show[T any](s *session, v view[T], record *T) error {
	e, err := v.entryOf(record)
	if err != nil {
		return err
	}
	return s.out.one(e)
}

// showNode writes a value of which nothing is known but itself.
func showNode(s *session, n *strictjson.Node, name string) error {
	s.out.shape = shapeOf(n)
	if err := s.out.shape.check(s.out.fields); err != nil {
		return err
	}
	return s.out.one(entry{n, name})
}

// showAll writes records as a list that is here already.
func showAll[T any](s *session, v view[T], records []T) error {
	s.out.shape = v.shape()
	entries := make([]entry, len(records))
	for i := range records {
		var err error
		if entries[i], err = v.entryOf(&records[i]); err != nil {
			return err
		}
	}
	if err := s.out.page(entries); err != nil {
		return err
	}
	return s.out.end()
}

// paging is how much of a list is wanted.
type paging struct{ limit int }

func (p *paging) flags(c *cobra.Command) {
	setting.AddFlag(c.Flags(), &p.limit, "limit", "50", setting.Between(0, math.MaxInt32),
		"number of entries; 0 shows all")
}

// allOf is how many records of a list are wanted if all are.
const allOf = math.MaxInt

// pageSize is the longest page that the API has.
const pageSize = 100

// pageOf reads a page of a list.
type pageOf[T any] func(ctx context.Context, first *int, after *string) ([]T, client.PageEnd, error)

// list writes the pages of a list as the result, one by one; want was called before.
func list[T any](ctx context.Context, s *session, v view[T], p paging, read pageOf[T]) error {
	left := p.limit
	if left == 0 {
		left = allOf
	}

	more, err := each(ctx, read, left, func(records []T) (bool, error) {
		entries := make([]entry, len(records))
		for i := range records {
			var err error
			if entries[i], err = v.entryOf(&records[i]); err != nil {
				return false, err
			}
		}
		return true, s.out.page(entries)
	})

	if err != nil {
		return err
	}

	if s.out.count == 0 {
		s.note("there are none")
	}
	if more {
		s.note("there are more; --limit 0 shows all")
	}
	return s.out.end()
}

// each reads the pages of a list for as long as visit wants more, at most so many records. It reports whether there are
// more.
func each[T any](ctx context.Context, read pageOf[T], most int, visit func([]T) (more bool, err error)) (bool, error) {
	var after *string
	for {
		first := min(most, pageSize)
		records, end, err := read(ctx, &first, after)
		if err != nil {
			return false, err
		}
		goOn, err := visit(records)
		if most -= len(records); err != nil || !goOn || !end.HasNextPage || most <= 0 || end.EndCursor == nil {
			return end.HasNextPage, err
		}
		if after != nil && *after == *end.EndCursor {
			return true, errors.New("the server answers with the same page again")
		}
		after = end.EndCursor
	}
}

// pagesOf returns the pages of records that are here already. A cursor is the place in the list.
func pagesOf[T any](records []T) pageOf[T] {
	return func(_ context.Context, first *int, after *string) ([]T, client.PageEnd, error) {
		from := 0
		if after != nil {
			var err error
			if from, err = strconv.Atoi(*after); err != nil {
				return nil, client.PageEnd{}, err
			}
		}
		to := min(from+*first, len(records))
		cursor := strconv.Itoa(to)
		return records[from:to], client.PageEnd{HasNextPage: to < len(records), EndCursor: &cursor}, nil
	}
}
