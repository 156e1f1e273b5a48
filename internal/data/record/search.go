package record

import (
	"context"

	"slipway/internal/base/meter"
	"slipway/internal/base/textrules"
	"slipway/internal/data/store"
)

// SearchLimit is how many records a search looks through: the newest of the list.
const SearchLimit = 10_000

// searchText is the column of what a search looks in, folded.
const searchText = "search_text"

// Search returns the list of those of its newest SearchLimit records whose search_text has a text, in any case, the
// list itself if there is none. The text may be one of 1 to 100 characters. It counts the records first, as work of
// the context's request.
func (q Query[T]) Search(ctx context.Context, text *string) (Query[T], error) {
	if text == nil {
		return q, nil
	}
	if err := textrules.CheckSearch(*text); err != nil {
		return q, err
	}
	return q.searchFor(ctx, Contains(searchText, textrules.Fold(*text)))
}

// searchFor returns the list of those of its SearchLimit newest records that meet a condition: of a list that goes by
// another time, of the last ones by that. It counts the records first, as work of the context's request.
func (q Query[T]) searchFor(ctx context.Context, condition Condition) (Query[T], error) {
	s := Range{Limit: SearchLimit}.shape(part)
	if q.table.class == store.Shared {
		s.kind = sharedPart
	}
	time := q.key
	if q.ascending {
		time = createdAtColumn
	}
	s.counted, s.key = true, time

	n, oldest := 0, any(nil) // as the database has it
	err := q.run(ctx, s, nil, selection{list: `"` + time + `", "id"`}, func(rows store.Rows) error {
		return rows.Scan(&n, &oldest)
	})
	if err == nil {
		err = meter.Spend(ctx, meter.Searched, n)
	}
	if err != nil {
		return q, err
	}

	if n == SearchLimit {
		q, q.truncated = q.Where(Where(`"`+time+`" >= ?`, oldest)), true
	}
	return q.Where(condition), nil
}

// Truncated reports whether the list is a search that did not look at all records.
func (q Query[T]) Truncated() bool { return q.truncated }
