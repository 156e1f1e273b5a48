package store

import (
	"context"
	"database/sql"
	"encoding/json"

	entsql "entgo.io/ent/dialect/sql"

	"slipway/internal/meter"
)

// metered are rows that are read to answer a request: their bytes are counted as they come, so that a page of
// large records ends before it fills the memory. Those of transactions are not, for a write must not fail by
// what it reads.
type metered struct {
	entsql.ColumnScanner
	ctx context.Context // of the query
}

// Scan implements entsql.ColumnScanner.
func (m metered) Scan(columns ...any) error {
	if err := m.ColumnScanner.Scan(columns...); err != nil {
		return err
	}
	size := 0
	for _, column := range columns {
		size += bytesOf(column)
	}
	return meter.Answer(m.ctx, meter.Read, size)
}

// bytesOf is how many bytes a column has; numbers, times and what is short by its nature do not count.
func bytesOf(column any) int {
	switch c := column.(type) {
	case *sql.NullString:
		return len(c.String)
	case *[]byte:
		return len(*c)
	case interface{ JSON() json.RawMessage }:
		return len(c.JSON())
	default:
		return 0
	}
}
