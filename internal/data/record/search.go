package record

import (
	"context"

	"slipway/internal/base/meter"
	"slipway/internal/data/store"
)

// SearchLimit is how many records a search looks through: the newest of the list.
const SearchLimit = 10_000

// Search returns the list of those of its newest SearchLimit records that have a text in one of some columns, in any
// case of the letters A to Z. It counts the records first, as work of the context's request.
func (q Query[T]) Search(ctx context.Context, text string, columns ...string) (Query[T], error) {
	return q.SearchFor(ctx, q.containsFold(text, columns...))
}

// SearchFor returns the list of those of its first SearchLimit records that meet a condition. It counts the records
// first, as work of the context's request.
func (q Query[T]) SearchFor(ctx context.Context, condition Condition) (Query[T], error) {
	s := Range{Limit: SearchLimit}.shape(part)
	if q.table.class == store.Shared {
		s.kind = sharedPart
	}
	s.counted, s.time = true, q.time

	n, oldest := 0, any(nil) // as the database has it
	err := q.run(ctx, s, nil, selection{list: `"` + q.time + `", "id"`}, func(rows store.Rows) error {
		return rows.Scan(&n, &oldest)
	})
	if err == nil {
		err = meter.Spend(ctx, meter.Searched, n)
	}
	if err != nil {
		return q, err
	}

	if n == SearchLimit {
		q, q.truncated = q.Where(Where(`"`+q.time+`" >= ?`, oldest)), true
	}
	return q.Where(condition), nil
}

// Truncated reports whether the list is a search that did not look at all records.
func (q Query[T]) Truncated() bool { return q.truncated }
