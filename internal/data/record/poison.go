package record

import (
	"database/sql"
	"reflect"
	"slices"
	"time"
)

// What the fields of columns that were not read have in tests. Nobody who asks for such a column takes these for it, or
// for a column that is null.
const (
	poisonText   = "unread column"
	poisonNumber = -7_777_777
)

var poisonTime = time.Date(1, 7, 7, 7, 7, 7, 0, time.UTC)

// poison fills the fields of a record whose columns were not read.
func (t *Table[T]) poison(record *T, read selection) {
	for _, c := range t.all.names {
		if !slices.Contains(read.names, c) {
			poisonField(t.entity(record).ScanTarget(c))
		}
	}
}

func poisonField(target any) {
	if s, ok := target.(sql.Scanner); ok {
		values := []any{
			poisonText, int64(poisonNumber), poisonTime,
			`["` + poisonText + `"]`, `{"message": "` + poisonText + `"}`,
		}
		for _, value := range values {
			if s.Scan(value) == nil {
				return
			}
		}
		return
	}

	field := reflect.ValueOf(target).Elem()
	switch field.Kind() {
	case reflect.String:
		field.SetString(poisonText)
	case reflect.Int32, reflect.Int64:
		field.SetInt(poisonNumber)
	case reflect.Bool:
		field.SetBool(true)
	case reflect.Struct:
		field.Set(reflect.ValueOf(poisonTime))
	default:
		panic("record: no poison for a " + field.Type().String())
	}
}
