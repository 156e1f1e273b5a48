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
	// sql returns a text that both databases understand, with ? for each argument.
	sql() string
	// appendArgs appends the arguments of the text.
	appendArgs([]any) []any
}

// text is a condition that only a database can answer.
type text struct {
	constant string
	args     []any
}

func (t text) sql() string                 { return t.constant }
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

// Comparison compares a column with a text or a time. It means the same in a statement and of a record (see
// Table.Matches), so that a filter of comparisons is written once, for its list and for those who follow what is in it.
type Comparison struct {
	column, operator string
	value            any
}

func (c Comparison) sql() string {
	if c.value == nil {
		return `"` + c.column + `" ` + c.operator
	}
	return `"` + c.column + `" ` + c.operator + " ?"
}

func (c Comparison) appendArgs(args []any) []any {
	if c.value == nil {
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

// The operators that compare with nothing.
const (
	isSet  = "IS NOT NULL"
	isNull = "IS NULL"
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
