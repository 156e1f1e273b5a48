package store

import (
	"context"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"slipway/ent"
)

// The servers of one database may have clocks that differ. What they must agree on goes by the database's, which
// is asked within a statement that runs in any case. SQLite has one server and no clock: there it is zero.

// Clock returns the time by the database's clock, the zero time on SQLite.
func (s *Store) Clock(ctx context.Context) (at time.Time, err error) {
	if s.dialect != dialect.Postgres {
		return time.Time{}, s.Ping(ctx)
	}
	err = s.reads.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&at)
	return at.UTC(), err
}

const clockColumn = "database_clock"

// SelectClock adds the time by the database's clock to the columns of a query; ReadClock returns it.
func SelectClock(s *sql.Selector) {
	if s.Dialect() == dialect.Postgres {
		s.AppendSelectExprAs(sql.Raw("clock_timestamp()"), clockColumn)
	}
}

// ReadClock returns the time that SelectClock has read with a row, the zero time on SQLite.
func ReadClock(row interface {
	Value(column string) (ent.Value, error)
}) time.Time {
	v, err := row.Value(clockColumn)
	if at, ok := v.(time.Time); ok && err == nil {
		return at.UTC()
	}
	return time.Time{}
}
