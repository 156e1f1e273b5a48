package store

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// maxBuffered is how many bytes of an answer are read before its first row is handed out.
const maxBuffered = 64 << 10

// pqConn is what a connection of lib/pq can do.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// bufferedConn is a connection whose queries fail before their first row, so that they can be run again. A
// server that shuts down may send some of the rows before it says so.
type bufferedConn struct{ pqConn }

func newBufferedConn(c driver.Conn) (driver.Conn, error) {
	whole, ok := c.(pqConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: lib/pq's connection is a %T", c), c.Close())
	}
	return bufferedConn{whole}, nil
}

// QueryContext implements driver.QueryerContext.
func (c bufferedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.pqConn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	b := &bufferedRows{Rows: rows, width: len(rows.Columns())}
	if err := b.fill(); err != nil {
		_ = rows.Close() // which only says the same once more
		return nil, err
	}
	return b, nil
}

// bufferedRows are rows of which the first were read already.
type bufferedRows struct {
	driver.Rows
	width  int
	values []driver.Value // of the rows that were read, one row after the other
	end    error          // io.EOF where these are all there are
}

// fill reads rows until there are no more or there are enough, and fails where reading does.
func (b *bufferedRows) fill() error {
	if b.width == 0 {
		return nil
	}
	for size := 0; size < maxBuffered; {
		begin := len(b.values)
		b.values = append(b.values, make([]driver.Value, b.width)...)
		row := b.values[begin:]
		err := b.Rows.Next(row)
		if errors.Is(err, io.EOF) {
			b.values, b.end = b.values[:begin], io.EOF
			return nil
		}
		if err != nil {
			return err
		}
		size += cloneBytes(row)
	}
	return nil
}

// Next implements driver.Rows.
func (b *bufferedRows) Next(row []driver.Value) error {
	if len(b.values) > 0 {
		b.values = b.values[copy(row, b.values[:b.width]):]
		return nil
	}
	if b.end != nil {
		return b.end
	}
	return b.Rows.Next(row)
}

// cloneBytes clones the bytes of a row, which lib/pq uses again for the next one, and returns about how many bytes
// the row takes.
func cloneBytes(row []driver.Value) int {
	const header = 16 // of each value
	size := header * len(row)
	for i, value := range row {
		switch v := value.(type) {
		case []byte:
			row[i] = bytes.Clone(v)
			size += len(v)
		case string:
			size += len(v)
		}
	}
	return size
}
