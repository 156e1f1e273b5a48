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

// maxMerged is how many columns of a list may be compared with several values.
const maxMerged = 2

// shape is all that the text of a statement depends on.
type shape struct {
	kind                    kind
	postgres                bool
	columns                 string
	conditions              string
	parent, by              string
	limit                   int
	backward, after, before bool
	bySequence              bool
	// key is the column by which the list goes, unless it goes by a sequence, and ascending whether the least of it comes
	// first.
	key       string
	ascending bool
	// merged are columns that have one of several values, which are an argument each. The list of each value is read
	// along its own index.
	merged [maxMerged]string
	// counted is whether only the number of the records is read, and the time of the oldest of them.
	counted bool
}

func (r Range) shape(k kind) shape {
	// The limit stands in the text: PostgreSQL takes one that it does not see for a tenth of the table.
	return shape{kind: k, limit: r.Limit, backward: r.Backward, after: r.After != nil, before: r.Before != nil}
}

// args returns the arguments of a range, in the order of its text.
func (r Range) args(s shape) []any {
	var args []any
	for _, p := range []*Position{r.After, r.Before} {
		switch {
		case p == nil:
		case s.bySequence:
			args = append(args, p.sequence())
		case s.ascending:
			args = append(args, p.Text, p.ID)
		default:
			args = append(args, p.At, p.ID)
		}
	}
	return args
}

// sequence returns the number of a position, 0 if somebody has tampered with its cursor.
func (p Position) sequence() int64 {
	n, err := strconv.ParseInt(p.ID, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// merge takes the comparisons with several values out of the conditions of a list, because its order has an index for
// each value, and returns the arguments that these are and the conditions that are left.
func (q Query[T]) merge(s *shape) (values []any, rest []Condition) {
	if s.kind != part && s.kind != children {
		return nil, q.conditions
	}
	for _, c := range q.conditions {
		several, ok := c.(Comparison)
		if !ok || several.operator != in || len(values) == maxMerged {
			rest = append(rest, c)
			continue
		}
		s.merged[len(values)] = several.column
		values = append(values, q.store.List(several.texts()))
	}
	return values, rest
}

// text returns the text of a statement with conditions.
func (q Query[T]) text(s shape, conditions []Condition) string {
	var space [8]string
	texts := space[:0]
	for _, c := range conditions {
		texts = append(texts, c.sql(s.postgres))
	}
	s.conditions = strings.Join(texts, " AND ")
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

// args returns the arguments of a statement, in the order of its text: the values that are merged, those of the
// conditions, the scope, and those that only its kind has.
func (q Query[T]) args(k kind, scope string, merged []any, conditions []Condition, more []any) []any {
	args := make([]any, 0, 2*(len(conditions)+1+len(more))+len(merged))
	if k == children || k == countEach { // which name their parents first
		args = append(args, more...)
		more = nil
	}

	args = append(args, merged...)
	for _, c := range conditions {
		args = c.appendArgs(args)
	}
	if q.table.class != store.Control {
		args = append(args, scope)
	}
	args = append(args, more...)

	if k == sharedPart {
		for _, c := range conditions {
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
		return `SELECT COUNT(*), MIN("` + s.key + `") FROM (` + s.write(table, class) + `) AS "counted"`
	}

	name := `"` + table + `"`
	from := ` FROM ` + name

	switch s.kind {
	case one:
		return "SELECT " + s.columns + from + s.where(s.tenancy(class))
	case several:
		return "SELECT " + s.columns + from + s.where(s.tenancy(class), `"id"`+s.anyOf())
	case part:
		return s.list(name, s.columns, append([]string{s.tenancy(class)}, s.within()...)...)
	case sharedPart:
		// Each half is read along an index, as far as the part goes. One condition with OR would have the database
		// read all of them and sort them.
		half := func(owner string) string {
			return "SELECT " + s.columns + " FROM (" +
				s.list(name, s.columns, append([]string{owner}, s.within()...)...) + `) AS "half"`
		}
		return "SELECT " + s.columns + " FROM (" + half(ofOwner) + " UNION ALL " + half(ofNobody) + ") AS " + name +
			s.order(name) + s.limited()
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
	if s.postgres {
		return "SELECT " + s.columns + s.parents() +
			" CROSS JOIN LATERAL (" + s.list(name, s.columns, tenancy, s.ofParent(name)) + `) AS "child"`
	}
	return "SELECT " + qualified(name, s.columns) + s.parents() +
		found(name, s.list(name, `"id"`, tenancy, s.ofParent(name)))
}

// list reads columns of a list up to its limit. If values are merged, it reads the list of each of them so far, and of
// all these again as much.
func (s shape) list(name, columns string, conditions ...string) string {
	values := ""
	for i, column := range s.merged {
		if column == "" {
			continue
		}
		value := `"value` + strconv.Itoa(i) + `"`
		conditions = append(conditions, name+`."`+column+`" = `+value+`."value"`)
		if values != "" {
			values += " CROSS JOIN "
		}
		values += s.argument(value)
	}

	end := s.order(name) + s.limited()
	if values == "" {
		return "SELECT " + columns + " FROM " + name + s.where(conditions...) + end
	}

	if s.postgres {
		return "SELECT " + columns + " FROM " + values + " CROSS JOIN LATERAL (SELECT " + s.columns + " FROM " + name +
			s.where(conditions...) + end + ") AS " + name + end
	}
	return "SELECT " + qualified(name, columns) + " FROM " + values +
		found(name, `SELECT "id" FROM `+name+s.where(conditions...)+end) + end
}

// found joins, on SQLite, the records whose ids a statement has read.
func found(name, ids string) string {
	return ` CROSS JOIN json_each((SELECT json_group_array("id") FROM (` + ids + `))) AS "found" CROSS JOIN ` + name +
		" ON " + name + `."id" = "found"."value"`
}

// qualified returns a list of columns with the name of their table.
func qualified(name, columns string) string {
	return name + "." + strings.ReplaceAll(columns, ", ", ", "+name+".")
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
	return " FROM " + s.argument(`"parent"`)
}

// argument returns the texts of one argument as a table, whose column is value.
func (s shape) argument(name string) string {
	if s.postgres {
		return "unnest(CAST(? AS text[])) AS " + name + ` ("value")`
	}
	return "json_each(?) AS " + name
}

func (s shape) ofParent(name string) string { return name + `."` + s.parent + `" = "parent"."value"` }

// anyOf returns the comparison with a list, which is one argument.
func (s shape) anyOf() string {
	if s.postgres {
		return " = ANY (?)"
	}
	return " IN (SELECT value FROM json_each(?))"
}

// where returns the conditions, and more of them.
func (s shape) where(more ...string) string {
	text := ""
	for _, c := range append([]string{s.conditions}, more...) {
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
// (…, created_at DESC, id DESC), or of that of another column.
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
	further, back := " < (?, ?)", " > (?, ?)"
	if s.ascending {
		further, back = back, further
	}
	if s.after {
		list = append(list, `("`+s.key+`", "id")`+further)
	}
	if s.before {
		list = append(list, `("`+s.key+`", "id")`+back)
	}
	return list
}

func (s shape) order(name string) string {
	switch {
	case s.bySequence && s.backward:
		return ` ORDER BY "sequence" DESC`
	case s.bySequence:
		return ` ORDER BY "sequence"`
	case s.backward != s.ascending:
		return " ORDER BY " + name + `."` + s.key + `", ` + name + `."id"`
	}
	return " ORDER BY " + name + `."` + s.key + `" DESC, ` + name + `."id" DESC`
}

func (s shape) limited() string { return " LIMIT " + strconv.Itoa(s.limit) }
