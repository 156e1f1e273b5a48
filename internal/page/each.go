package page

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"slipway/ent"
)

// Parents are the records whose lists are read together. The list of a parent has the rows with its id in Column.
type Parents struct {
	List   string
	Viewer string
	Column string
	IDs    []string
}

// ReadEach reads a page of each parent's list, all in one statement. query returns a new query without conditions, and
// parent returns the id of a row's parent.
func ReadEach[Q modifiable[Q, T, P, O, S], T any, P, O ~func(*sql.Selector), S any](
	ctx context.Context, query func() Q, of Parents, args Args, key Key[T], parent func(*T) string,
) (map[string]*Connection[*T], error) {
	pages := make(map[string]*Connection[*T], len(of.IDs))
	if args.After != nil || args.Before != nil || len(of.IDs) == 1 {
		// A cursor belongs to one list, so the lists cannot be read together.
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
	first := query()
	first.Modify(of.firstRows(r))
	rows, err := first.All(ctx)
	if err != nil {
		return nil, err
	}
	rowsOf, err := sortByParent(rows, parent)
	if err != nil {
		return nil, err
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

// modifiable is a query whose statement can be changed.
type modifiable[Q, T any, P, O ~func(*sql.Selector), S any] interface {
	Query[Q, T, P, O]
	Modify(...func(*sql.Selector)) S
}

// sortByParent returns the rows of each parent, in the order of the list.
func sortByParent[T any](rows []*T, parent func(*T) string) (map[string][]*T, error) {
	indices := make(map[*T]int64, len(rows))
	rowsOf := make(map[string][]*T)
	for _, row := range rows {
		at, err := selected[int64](row, indexColumn)
		if err != nil {
			return nil, err
		}
		indices[row] = at
		rowsOf[parent(row)] = append(rowsOf[parent(row)], row)
	}
	for _, list := range rowsOf {
		slices.SortFunc(list, func(a, b *T) int { return cmp.Compare(indices[a], indices[b]) })
	}
	return rowsOf, nil
}

// countEach returns a function that counts every parent's list in one statement, the first time it is called.
func countEach[Q modifiable[Q, T, P, O, S], T any, P, O ~func(*sql.Selector), S any](
	query func() Q, of Parents,
) func(context.Context) (map[string]int, error) {
	var once sync.Once
	var counts map[string]int
	var failure error
	return func(ctx context.Context) (map[string]int, error) {
		once.Do(func() {
			q := query()
			q.Modify(of.counts)
			rows, err := q.All(ctx)
			failure = err
			counts = make(map[string]int, len(rows))
			for _, row := range rows {
				id, err := selected[string](row, parentColumn)
				n, countErr := selected[int64](row, countColumn)
				failure = cmp.Or(failure, err, countErr)
				counts[id] = int(n)
			}
		})
		return counts, failure
	}
}

// The columns that a statement over several lists selects beside those of the table.
const (
	indexColumn  = "place"
	parentColumn = "parent"
	countColumn  = "count"
)

// selected returns the value of a selected column that is not one of the table's.
func selected[V, T any](row *T, column string) (v V, err error) {
	values, ok := any(row).(interface {
		Value(string) (ent.Value, error)
	})
	if !ok {
		return v, fmt.Errorf("page: %T has no selected values", row)
	}
	value, err := values.Value(column)
	if err != nil {
		return v, err
	}
	if v, ok = value.(V); !ok {
		return v, fmt.Errorf("page: the column %s is %T, want %T", column, value, v)
	}
	return v, nil
}

func (p Parents) scope(id string) Scope { return Scope{List: p.List, Viewer: p.Viewer, Filter: id} }

// firstRows turns a statement over the table into one over the first rows of each parent's list, and one more of each,
// with their position in the list. Each list is read along its index until there are enough rows; to rank or sort the
// rows of all lists would read the lists to their ends.
func (p Parents) firstRows(r request) func(*sql.Selector) {
	return func(s *sql.Selector) {
		d := sql.Dialect(s.Dialect())
		name := s.TableName()
		table, child := d.Table(name), d.Table("child")
		list := p.list(s).Limit(r.size + 1)
		r.order(list)
		s.FromExpr(sql.ExprFunc(func(b *sql.Builder) {
			p.from(b)
			b.WriteString(" CROSS JOIN ")
			r.writeIDs(b, list)
			b.WriteString(" CROSS JOIN ").Ident(name)
		}))
		s.Where(sql.ColumnsEQ(table.C("id"), child.C("value"))).AppendSelectAs(child.C("key"), indexColumn)
	}
}

// counts turns a statement over the table into one that counts each parent's list.
func (p Parents) counts(s *sql.Selector) {
	list := p.list(s).Count()
	s.FromExpr(sql.ExprFunc(p.from)).SetP(nil).
		Select(sql.As(parentValue(s), parentColumn)).
		AppendSelectExprAs(sql.ExprFunc(func(b *sql.Builder) { b.Wrap(func(b *sql.Builder) { b.Join(list) }) }), countColumn)
}

// list returns the list of one parent, for a statement over parents: the rows that the statement was over.
func (p Parents) list(s *sql.Selector) *sql.Selector {
	d := sql.Dialect(s.Dialect())
	t := d.Table(s.TableName())
	return d.Select().From(t).Where(sql.And(s.P(), sql.ColumnsEQ(t.C(p.Column), parentValue(s))))
}

func parentValue(s *sql.Selector) string { return sql.Dialect(s.Dialect()).Table("parent").C("value") }

// from writes the parents as a table of their ids, "parent". They are one argument, so that the text of the statement
// does not depend on their number.
func (p Parents) from(b *sql.Builder) {
	ids, err := json.Marshal(p.IDs)
	if err != nil {
		b.AddError(err)
	}
	if b.Dialect() == dialect.Postgres {
		b.WriteString("json_array_elements_text(").Arg(string(ids)).WriteString(`) AS "parent" ("value")`)
		return
	}
	b.WriteString("json_each(").Arg(string(ids)).WriteString(") AS `parent`")
}

// writeIDs writes the ids of a list as a table, "child", with their positions, for each row of the tables before it: with
// LATERAL on PostgreSQL, and with a function over an array on SQLite, which has no LATERAL.
func (r request) writeIDs(b *sql.Builder, list *sql.Selector) {
	if b.Dialect() == dialect.Postgres {
		b.WriteString("LATERAL unnest(ARRAY").Wrap(func(b *sql.Builder) { b.Join(list.Select("id")) }).
			WriteString(`) WITH ORDINALITY AS "child" ("value", "key")`)
		return
	}
	order := "`created_at` DESC, `id` DESC"
	if r.backward {
		order = "`created_at`, `id`"
	}
	b.WriteString("json_each((SELECT json_group_array(`id` ORDER BY " + order + ") FROM ").
		Wrap(func(b *sql.Builder) { b.Join(list.Select("id", "created_at")) }).
		WriteString(")) AS `child`")
}
