package record

import (
	"strconv"
	"strings"

	"slipway/internal/data/store"
)

// kind is what a statement reads.
type kind int

const (
	one           kind = iota // by conditions
	several                   // by a list of ids
	part                      // a Range of a list
	sharedPart                // the same of a shared table
	count                     // how many there are
	children                  // a Range of the list of each parent
	countChildren             // how many each parent has
	countEach                 // how many each parent has of each value of a column
)

// maxConditions is how many conditions a list may have.
const maxConditions = 8

// shape is all that the text of a statement depends on.
type shape struct {
	kind                    kind
	postgres                bool
	columns                 string
	conditions              [maxConditions]string
	parent, by              string
	limit                   int
	backward, after, before bool
	bySequence              bool
	// counted is whether only the number of the records is read, and when the oldest of them was created.
	counted bool
}

func (r Range) shape(k kind) shape {
	// The limit stands in the text: PostgreSQL takes one that it does not see for a tenth of the table.
	return shape{kind: k, limit: r.Limit, backward: r.Backward, after: r.After != nil, before: r.Before != nil}
}

// args returns the arguments of a range, in the order of its text.
func (r Range) args(bySequence bool) []any {
	var args []any
	for _, p := range []*Position{r.After, r.Before} {
		switch {
		case p == nil:
		case bySequence:
			args = append(args, p.sequence())
		default:
			args = append(args, p.At, p.ID)
		}
	}
	return args
}

// sequence returns the number of a position, 0 if somebody has tampered with its cursor.
func (p *Position) sequence() int64 {
	n, err := strconv.ParseInt(p.ID, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// text returns the text of a statement.
func (q Query[T]) text(s shape) string {
	for i, c := range q.conditions {
		s.conditions[i] = c.sql()
	}
	if text, ok := q.table.texts.Get(s); ok {
		return text
	}
	text := s.write(q.table.name, q.table.class)
	if s.postgres {
		text = numbered(text)
	}
	q.table.texts.Add(s, text)
	return text
}

// args returns the arguments of a statement, in the order of its text: those of the conditions, the scope, and those
// that only its kind has.
func (q Query[T]) args(k kind, scope string, more []any) []any {
	args := make([]any, 0, 2*(len(q.conditions)+1+len(more)))
	if k == children || k == countEach { // which name their parents first
		args = append(args, more...)
		more = nil
	}

	for _, c := range q.conditions {
		args = c.appendArgs(args)
	}
	if q.table.class != store.Control {
		args = append(args, scope)
	}
	args = append(args, more...)

	if k == sharedPart {
		for _, c := range q.conditions {
			args = c.appendArgs(args)
		}
		args = append(args, more...)
	}

	return args
}

// What binds the rows of a shared table to the scope of an actor.
const (
	ofOwner   = `"organization_id" = ?`
	ofNobody  = `"organization_id" IS NULL`
	ofVisible = `("organization_id" = ? OR "organization_id" IS NULL)`
)

// tenancy returns what binds the rows of a table to the scope.
func (s shape) tenancy(c store.Class) string {
	switch c {
	case store.Owned:
		return store.Owner(`"organization_id"`, s.postgres)
	case store.Shared:
		return ofVisible
	case store.Control:
	}
	return ""
}

// write returns the text, with question marks for arguments.
func (s shape) write(table string, class store.Class) string {
	if s.counted {
		s.counted = false
		return `SELECT COUNT(*), MIN("created_at") FROM (` + s.write(table, class) + `) AS "counted"`
	}

	name := `"` + table + `"`
	from := ` FROM ` + name

	switch s.kind {
	case one:
		return "SELECT " + s.columns + from + s.where(s.tenancy(class))
	case several:
		return "SELECT " + s.columns + from + s.where(s.tenancy(class), `"id"`+s.anyOf())
	case part:
		return "SELECT " + s.columns + from + s.where(s.tenancy(class), s.within()...) + s.order() + s.limited()
	case sharedPart:
		// Each half is read along an index, as far as the part goes. One condition with OR would have the database
		// read all of them and sort them.
		half := func(owner string) string {
			return "SELECT " + s.columns + " FROM (" +
				"SELECT " + s.columns + from + s.where(owner, s.within()...) + s.order() + s.limited() + `) AS "half"`
		}
		return "SELECT " + s.columns + " FROM (" + half(ofOwner) + " UNION ALL " + half(ofNobody) + ") AS " + name +
			s.order() + s.limited()
	case count:
		return "SELECT COUNT(*)" + from + s.where(s.tenancy(class))
	case children:
		return s.writeChildren(name, s.tenancy(class))
	case countChildren:
		return `SELECT "parent"."value", ` +
			`(SELECT COUNT(*)` + from + s.where(s.tenancy(class), s.ofParent(name)) + `)` + s.parents()
	case countEach:
		return s.writeCountEach(name, s.where(s.tenancy(class), s.ofParent(name)))
	}
	panic("record: no text for a statement of kind " + strconv.Itoa(int(s.kind)))
}

// writeChildren reads each list along its index until there are enough rows; to rank or sort the rows of all lists
// would read the lists to their ends. SQLite has no LATERAL: there the ids of a list are read by a function over an
// array.
func (s shape) writeChildren(name, tenancy string) string {
	list := " FROM " + name + s.where(tenancy, s.ofParent(name)) + s.order() + s.limited()
	if s.postgres {
		return "SELECT " + s.columns + s.parents() + " CROSS JOIN LATERAL (SELECT " + s.columns + list + `) AS "child"`
	}
	columns := strings.Split(s.columns, ", ")
	for i := range columns {
		columns[i] = name + "." + columns[i]
	}
	return "SELECT " + strings.Join(columns, ", ") + s.parents() +
		` CROSS JOIN json_each((SELECT json_group_array("id") FROM (SELECT "id"` + list + `))) AS "child"` +
		` CROSS JOIN ` + name +
		" WHERE " + name + `."id" = "child"."value"`
}

// writeCountEach counts along the index of each parent. SQLite has no LATERAL. It reads the index of one parent after
// the other if the text names these first.
func (s shape) writeCountEach(name, where string) string {
	by := name + `."` + s.by + `"`
	if s.postgres {
		return `SELECT "parent"."value", "child"."by", "child"."count"` + s.parents() +
			` CROSS JOIN LATERAL (SELECT ` + by + ` AS "by", COUNT(*) AS "count" ` +
			`FROM ` + name + where + ` GROUP BY ` + by + `) AS "child"`
	}
	return `SELECT "parent"."value", ` + by + `, COUNT(*)` + s.parents() +
		` CROSS JOIN ` + name + where + ` GROUP BY "parent"."value", ` + by
}

// parents returns the parents as a table of their ids, which are one argument.
func (s shape) parents() string {
	if s.postgres {
		return ` FROM unnest(CAST(? AS text[])) AS "parent" ("value")`
	}
	return ` FROM json_each(?) AS "parent"`
}

func (s shape) ofParent(name string) string { return name + `."` + s.parent + `" = "parent"."value"` }

// anyOf returns the comparison with a list, which is one argument.
func (s shape) anyOf() string {
	if s.postgres {
		return " = ANY (?)"
	}
	return " IN (SELECT value FROM json_each(?))"
}

// where returns the conditions, what binds the rows to the scope, and more conditions.
func (s shape) where(tenancy string, more ...string) string {
	text := ""
	for _, c := range append(append(s.conditions[:], tenancy), more...) {
		switch {
		case c == "":
		case text == "":
			text = " WHERE " + c
		default:
			text += " AND " + c
		}
	}
	return text
}

// within returns the conditions of a range. The comparison of rows is one range of the index on
// (…, created_at DESC, id DESC).
func (s shape) within() []string {
	var list []string
	if s.bySequence {
		if s.after {
			list = append(list, `"sequence" > ?`)
		}
		if s.before {
			list = append(list, `"sequence" < ?`)
		}
		return list
	}
	if s.after {
		list = append(list, `("created_at", "id") < (?, ?)`)
	}
	if s.before {
		list = append(list, `("created_at", "id") > (?, ?)`)
	}
	return list
}

func (s shape) order() string {
	switch {
	case s.bySequence && s.backward:
		return ` ORDER BY "sequence" DESC`
	case s.bySequence:
		return ` ORDER BY "sequence"`
	case s.backward:
		return ` ORDER BY "created_at", "id"`
	}
	return ` ORDER BY "created_at" DESC, "id" DESC`
}

func (s shape) limited() string { return " LIMIT " + strconv.Itoa(s.limit) }
