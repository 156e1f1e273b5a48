package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/data/store"
)

// Query is a list of a table's records: those that meet every condition and that the actor's organization may see.
type Query[T any] struct {
	table      *Table[T]
	store      *store.Store
	conditions []Condition
	// key is the column by which the list goes, unless it goes by a sequence: a time, the last first, or if it is
	// ascending a text, the least first.
	key       string
	ascending bool
	truncated bool
}

// In returns the list of all records in a database.
func (t *Table[T]) In(s *store.Store) Query[T] {
	return Query[T]{table: t, store: s, key: createdAtColumn}
}

// LastBy returns the list in the order of another time than that of creation, the last first: of the records that have
// one, which must not change any more.
func (q Query[T]) LastBy(column string) Query[T] {
	q.key = column
	return q.Where(IsSet(column, true))
}

// ByName returns the list in the order of the folded names of its records, from A to Z.
func (q Query[T]) ByName() Query[T] {
	q.key, q.ascending = nameKeyColumn, true
	return q
}

// Where returns the list of those records that meet more conditions.
func (q Query[T]) Where(conditions ...Condition) Query[T] {
	q.conditions = append(slices.Clip(q.conditions), conditions...)
	return q
}

// Table returns the table.
func (q Query[T]) Table() *Table[T] { return q.table }

// Position returns the place of a record in the list.
func (q Query[T]) Position(record *T) Position {
	at, id := q.table.position(record)
	p := Position{At: at, ID: id}
	switch {
	case q.ascending:
		p.Text, _ = q.table.entity(record).ColumnValue(q.key).(string)
	case q.key != createdAtColumn:
		p.At, _ = q.table.entity(record).ColumnValue(q.key).(time.Time)
	}
	return p
}

// Position is that of a record in a list: lists go by a time, mostly by when their records were created, or by a text,
// and, of those of the same, by their ids. If they go by a sequence, the ID is its digits.
type Position struct {
	At   time.Time
	Text string
	ID   string
}

// Range is a part of a list: the newest records, at most Limit, between two positions that may be nil. Backward, it is
// the oldest of them, in the opposite order. Lists by a sequence begin with the oldest.
type Range struct {
	After, Before *Position
	Limit         int
	Backward      bool
}

// ByID returns the record of an id. If there is none, the error has the code.
func (q Query[T]) ByID(ctx context.Context, id string, code fault.Code) (*T, error) {
	if err := store.CheckID(q.table.kind, id, code); err != nil {
		return nil, err
	}
	return q.Where(Equal(idColumn, id)).Only(ctx, "id", id, code)
}

// Only returns the one record of a list that has at most one, because it has those of a name. If there is none, the
// error has the code and says what kind of name names nothing.
func (q Query[T]) Only(ctx context.Context, kind, name string, code fault.Code) (*T, error) {
	found, err := q.rows(ctx, shape{kind: one}, nil, "")
	if err == nil && len(found) == 0 {
		err = store.NotFoundBy(kind, name, code)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// ByIDs returns the records of the ids that there are, in no order.
func (q Query[T]) ByIDs(ctx context.Context, ids []string) ([]*T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return q.rows(ctx, shape{kind: several}, []any{q.store.List(ids)}, "")
}

// Range returns a part of the list.
func (q Query[T]) Range(ctx context.Context, r Range) ([]*T, error) {
	s := r.shape(part)
	if q.table.class == store.Shared {
		s.kind = sharedPart
	}
	s.bySequence, s.key, s.ascending = q.table.bySequence, q.key, q.ascending
	return q.rows(ctx, s, r.args(s), "")
}

const (
	// countedTogether is how many records are one unit of work.
	countedTogether = 5
	// maxCounted is how many records of a list count as work at most, so that any list can be counted by itself.
	maxCounted = 40_000
)

// countedAs counts that a list was found to have n records as work of the context's request.
func countedAs(ctx context.Context, n int) error {
	return meter.Spend(ctx, meter.Counted, min(n, maxCounted)/countedTogether)
}

// Count returns how many records the list has.
func (q Query[T]) Count(ctx context.Context) (int, error) {
	n := 0
	err := q.run(ctx, shape{kind: count}, nil, selection{}, func(rows store.Rows) error { return rows.Scan(&n) })
	return n, cmp.Or(err, countedAs(ctx, n))
}

// Children returns the part of each parent's list: of the records that have its id in a column. of returns the parent
// of a record.
func (q Query[T]) Children(
	ctx context.Context, column string, parents []string, r Range, of func(*T) string,
) (map[string][]*T, error) {
	s := r.shape(children)
	s.parent, s.bySequence, s.key, s.ascending = column, q.table.bySequence, q.key, q.ascending
	found, err := q.rows(ctx, s, []any{q.store.List(parents)}, column)
	if err != nil {
		return nil, err
	}
	lists := make(map[string][]*T, len(parents))
	for _, record := range found {
		id := of(record)
		lists[id] = append(lists[id], record)
	}
	for _, list := range lists {
		slices.SortFunc(list, func(a, b *T) int { return q.compare(a, b, r.Backward) })
	}
	return lists, nil
}

// CountChildren returns how many records each parent's list has.
func (q Query[T]) CountChildren(ctx context.Context, column string, parents []string) (map[string]int, error) {
	counts := make(map[string]int, len(parents))
	s := shape{kind: countChildren, parent: column}
	err := q.run(ctx, s, []any{q.store.List(parents)}, selection{}, func(rows store.Rows) error {
		var id string
		var n int
		err := rows.Scan(&id, &n)
		counts[id] = n
		return cmp.Or(err, countedAs(ctx, n))
	})
	return counts, err
}

// CountEach returns how many records each parent's list has of each value of a column, where it has some.
func (q Query[T]) CountEach(
	ctx context.Context, column string, parents []string, by string,
) (map[string]map[string]int, error) {
	counts := make(map[string]map[string]int, len(parents))
	s := shape{kind: countEach, parent: column, by: by}
	err := q.run(ctx, s, []any{q.store.List(parents)}, selection{}, func(rows store.Rows) error {
		var id, value string
		var n int
		if err := rows.Scan(&id, &value, &n); err != nil {
			return err
		}
		if counts[id] == nil {
			counts[id] = map[string]int{}
		}
		counts[id][value] = n
		return countedAs(ctx, n)
	})
	return counts, err
}

// compare compares two records by their places in a list.
func (q Query[T]) compare(a, b *T, backward bool) int {
	first, second := q.Position(a), q.Position(b)
	order := cmp.Or(second.At.Compare(first.At), cmp.Compare(second.ID, first.ID))
	switch {
	case q.table.bySequence:
		order = cmp.Compare(first.sequence(), second.sequence())
	case q.ascending:
		order = cmp.Or(cmp.Compare(first.Text, second.Text), cmp.Compare(first.ID, second.ID))
	}
	if backward {
		return -order
	}
	return order
}

// rows returns the records of a statement.
func (q Query[T]) rows(ctx context.Context, s shape, args []any, parent string) ([]*T, error) {
	columns := q.table.selected(ctx, parent, q.key)
	targets := make([]any, len(columns.names))
	charged := 0

	var records []*T
	err := q.run(ctx, s, args, columns, func(rows store.Rows) error {
		record := new(T)
		entity := q.table.entity(record)
		for i, c := range columns.names {
			targets[i] = entity.ScanTarget(c)
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}

		if q.store.PoisonsUnread() {
			q.table.poison(record, columns)
		}

		records = append(records, record)
		return columns.checkRoom(ctx, targets, &charged)
	})

	return records, err
}

// checkRoom adds the bytes of a record that will cost something, as package meter counts them, and returns the error of
// a request that cannot pay for so much: the rest is not read then. The work itself is counted where it is done.
func (s selection) checkRoom(ctx context.Context, targets []any, bytes *int) error {
	for i, c := range s.names {
		if !slices.Contains(s.charged, c) {
			continue
		}
		switch target := targets[i].(type) {
		case interface{ JSON() json.RawMessage }:
			*bytes += meter.Bytes(s.kind, target.JSON())
		case *string:
			*bytes += meter.Bytes(s.kind, *target)
		}
	}
	if *bytes > 0 && !meter.HasRoom(ctx, s.kind, *bytes) {
		return meter.Spend(ctx, s.kind, *bytes)
	}
	return nil
}

var errNoActor = errors.New("record: no actor in the context")

// run runs a statement of a shape for the actor's organization. args are those that the shape has besides conditions.
func (q Query[T]) run(ctx context.Context, s shape, args []any, columns selection, scan func(store.Rows) error) error {
	a := actor.From(ctx)
	if a == nil {
		return errNoActor
	}
	s.postgres, s.columns = q.store.Postgres(), columns.list
	merged, conditions := q.merge(&s)
	text := q.text(s, conditions)
	return q.store.Query(ctx, text, q.args(s.kind, store.Scope(a), merged, conditions, args), scan)
}
