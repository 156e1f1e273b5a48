package record

import (
	"strconv"
	"strings"
)

// Condition is a condition on the columns of a table.
type Condition struct {
	// text is SQL that both databases understand, with ? for each argument.
	text string
	args []any
}

// Where returns a condition of constant text, which has a question mark for each argument.
func Where(text string, args ...any) Condition { return Condition{text, args} }

// Equal returns the condition that a column has a value.
func Equal(column string, value any) Condition {
	return Condition{`"` + column + `" = ?`, []any{value}}
}

// IsNull returns the condition that a column has no value.
func IsNull(column string) Condition { return Condition{`"` + column + `" IS NULL`, nil} }

// AtLeast returns the condition that a column has a value or a greater one.
func AtLeast(column string, value any) Condition {
	return Condition{`"` + column + `" >= ?`, []any{value}}
}

// Below returns the condition that a column has a smaller value.
func Below(column string, value any) Condition {
	return Condition{`"` + column + `" < ?`, []any{value}}
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
