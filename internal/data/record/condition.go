package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Condition is a condition on the columns of a table.
type Condition interface {
	// sql returns a text for either database, with ? for each argument.
	sql(postgres bool) string
	// appendArgs appends the arguments of the text.
	appendArgs([]any) []any
}

// text is a condition that only a database can answer.
type text struct {
	constant string
	args     []any
}

func (t text) sql(bool) string             { return t.constant }
func (t text) appendArgs(args []any) []any { return append(args, t.args...) }

// Where returns a condition of constant text, which has a question mark for each argument.
func Where(constant string, args ...any) Condition { return text{constant, args} }

// IsNull returns the condition that a column has no value.
func IsNull(column string) Condition { return text{`"` + column + `" IS NULL`, nil} }

// IsSet returns the condition that a column has a value, or that it has none.
func IsSet(column string, is bool) Condition {
	if is {
		return text{`"` + column + `" IS NOT NULL`, nil}
	}
	return IsNull(column)
}

// Comparison compares a column with a text, with some texts or with a time. It means the same in a statement and of a
// record (see Table.Matches), so that a filter of comparisons is written once, for its list and for those who follow
// what is in it.
type Comparison struct {
	column, operator string
	value            any
}

func (c Comparison) sql(postgres bool) string {
	column := `"` + c.column + `"`
	switch c.operator {
	case isSet, isNull:
		return column + " " + c.operator
	case in:
		return column + " IN (?" + strings.Repeat(", ?", len(c.texts())-1) + ")"
	case contains:
		// PostgreSQL assumes that LIKE is true of one row in two hundred, because row-level security keeps it from
		// looking closer, and would sort what it could read in order.
		if postgres {
			return "strpos(" + column + ", ?) > 0"
		}
		return "instr(" + column + ", ?) > 0"
	}
	return column + " " + c.operator + " ?"
}

// texts returns the texts of which one is to be the value of the column.
func (c Comparison) texts() []string {
	list, _ := c.value.([]string)
	return list
}

func (c Comparison) appendArgs(args []any) []any {
	switch c.operator {
	case isSet, isNull:
		return args
	case in:
		for _, text := range c.texts() {
			args = append(args, text)
		}
		return args
	}
	return append(args, c.value)
}

// Column returns the column that is compared.
func (c Comparison) Column() string { return c.column }

// Equal returns the condition that a column has a value.
func Equal(column string, value any) Comparison { return Comparison{column, "=", value} }

// AtLeast returns the condition that a column has a value or a greater one.
func AtLeast(column string, value any) Comparison { return Comparison{column, ">=", stored(value)} }

// Below returns the condition that a column has a smaller value.
func Below(column string, value any) Comparison { return Comparison{column, "<", stored(value)} }

// Set returns the condition that a column has a value, where is is true, or else that it has none.
func Set(column string, is any) Comparison {
	if is == true {
		return Comparison{column, isSet, nil}
	}
	return Comparison{column, isNull, nil}
}

// Among returns the condition that a column, which is never empty, has one of some values, and nothing if the list is
// nil. No record has one of an empty list.
func Among[T ~string](column string, values []T) []Comparison {
	if values == nil {
		return nil
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	slices.Sort(texts)
	switch texts = slices.Compact(texts); len(texts) {
	case 0:
		return []Comparison{Equal(column, "")}
	case 1:
		return []Comparison{Equal(column, texts[0])}
	}
	return []Comparison{{column, in, texts}}
}

// Other returns the condition that a column has another value than one.
func Other(column, value string) Comparison { return Comparison{column, other, value} }

// Contains returns the condition that a column contains a text.
func Contains(column, part string) Comparison { return Comparison{column, contains, part} }

// The operators that do not stand between a column and one argument, and one more.
const (
	isSet    = "IS NOT NULL"
	isNull   = "IS NULL"
	in       = "IN"
	contains = "contains"
	other    = "<>"
)

// Given returns what compare returns for a value, and nothing if that is nil.
func Given[T any](compare func(column string, value any) Comparison, column string, value *T) []Comparison {
	if value == nil {
		return nil
	}
	return []Comparison{compare(column, *value)}
}

// stored returns a bound as one that can be stored. Times are stored in microseconds: before one between two of them is
// what is before the later one. PostgreSQL would take the nearer one.
func stored(bound any) any {
	at, isTime := bound.(time.Time)
	if !isTime {
		return bound
	}
	at = at.UTC()
	if whole := at.Truncate(time.Microsecond); whole.Before(at) {
		return whole.Add(time.Microsecond)
	}
	return at
}

// All returns comparisons as conditions.
func All(list []Comparison) []Condition {
	conditions := make([]Condition, len(list))
	for i, c := range list {
		conditions[i] = c
	}
	return conditions
}

// Matches reports whether a record, whose columns of the comparisons were read, meets all of them.
func (t *Table[T]) Matches(record *T, list []Comparison) bool {
	return !slices.ContainsFunc(list, func(c Comparison) bool {
		return !c.matches(t.entity(record).ColumnValue(c.column))
	})
}

// matches reports whether a value meets the condition. Null meets none.
func (c Comparison) matches(found any) bool {
	switch c.operator {
	case isSet:
		return found != nil
	case isNull:
		return found == nil
	case in:
		text, ok := found.(string)
		return ok && slices.Contains(c.texts(), text)
	case contains:
		text, isText := found.(string)
		part, ok := c.value.(string)
		return isText && ok && strings.Contains(text, part)
	}

	var order int
	switch want := c.value.(type) {
	case string:
		text, ok := found.(string)
		if !ok {
			return false
		}
		order = cmp.Compare(text, want)
	case time.Time:
		at, ok := found.(time.Time)
		if !ok {
			return false
		}
		order = at.Compare(want)
	default:
		panic(fmt.Sprintf("record: only the database compares a %T", want))
	}

	switch c.operator {
	case "=":
		return order == 0
	case other:
		return order != 0
	case ">=":
		return order >= 0
	default:
		return order < 0
	}
}

// numbered returns a text for PostgreSQL, which has the numbers of arguments in the places of question marks.
func numbered(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 16)
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		text = after
	}
}
