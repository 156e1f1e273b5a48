package record

import (
	"context"
	"slices"
	"strings"

	"slipway/internal/base/meter"
)

// Columns are what an operation needs of the records that it reads: for each table, some of its columns. A table that
// it does not name is read with all of its columns. It is made once for an operation and used for each of its requests.
type Columns struct{ of map[string]selection }

// selection is a list of columns, and the same in SQL.
type selection struct {
	names []string
	list  string
	// charged are the columns of JSON whose bytes will cost work of a kind, if any.
	charged []string
	kind    meter.Kind
}

// Charging returns the same columns with what is known of those of a table that are JSON: the bytes of some of them
// will cost work of a kind, of each record. No more records are read than the request can pay for.
func (c *Columns) Charging(table string, k meter.Kind, columns ...string) *Columns {
	s := c.of[table]
	s.charged, s.kind = append(s.charged, columns...), k
	c.of[table] = s
	return c
}

// NewColumns returns the columns of the tables, to which it adds those that a record cannot be without: its id, its
// organization and, for its place in lists, when it was created.
func NewColumns(of map[string][]string) *Columns {
	c := &Columns{make(map[string]selection, len(of))}
	for table, names := range of {
		c.of[table] = newSelection(append([]string{idColumn, createdAtColumn, organizationColumn}, names...))
	}
	return c
}

// newSelection returns a selection of columns, each once.
func newSelection(names []string) selection {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	return selection{names: names, list: `"` + strings.Join(names, `", "`) + `"`}
}

type columnsKey struct{}

// WithColumns returns a context in which records are read with some columns. Outside of it they are read with all.
func WithColumns(ctx context.Context, c *Columns) context.Context {
	return context.WithValue(ctx, columnsKey{}, c)
}

// selected returns the columns of a table to be read, and besides those that a list goes by, "" for none.
func (t *Table[T]) selected(ctx context.Context, by ...string) selection {
	c, _ := ctx.Value(columnsKey{}).(*Columns)
	if c == nil || !t.narrow {
		return t.all
	}
	s, ok := c.of[t.name]
	if !ok {
		return t.all
	}
	for _, column := range by {
		if column != "" && !slices.Contains(s.names, column) {
			s.names, s.list = append(slices.Clip(s.names), column), s.list+`, "`+column+`"`
		}
	}
	return s
}

// Whole returns a context in which records are read with all columns, for who reads what no operation has asked for.
func Whole(ctx context.Context) context.Context { return WithColumns(ctx, nil) }
