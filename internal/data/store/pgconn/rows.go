package pgconn

import (
	"database/sql/driver"
	"errors"
	"io"
)

const (
	// maxAhead is how many bytes of an answer are read before its first row is handed out.
	maxAhead = 64 << 10
	// spareValues and spareBytes bound the buffer that a connection keeps for its next answer.
	spareValues = 1 << 10
	spareBytes  = 16 << 10
)

// buffer is what was read of an answer: the values of the rows, one row after the other, and the bytes of those of
// them that lib/pq reads the next row over.
type buffer struct {
	values []driver.Value
	bytes  []byte
}

// rows are rows of which the first were read already, so that what fails among these fails before the first: a server
// that shuts down may send some rows before it says so.
type rows struct {
	driver.Rows
	conn   *Conn
	width  int
	buffer buffer
	// next is the first of the values that were not handed out.
	next int
	end  error // io.EOF where the buffer has all that there are
}

// read reads rows until there are no more or there are enough, and fails where reading does.
func (c *Conn) read(found driver.Rows) (*rows, error) {
	r := &rows{Rows: found, conn: c, width: len(found.Columns()), buffer: c.spare}
	c.spare, c.reading = buffer{}, r
	if err := r.fill(); err != nil {
		_ = r.Close() // which only says the same once more
		return nil, err
	}
	return r, nil
}

func (r *rows) fill() error {
	if r.width == 0 {
		return nil
	}
	if cap(r.conn.row) < r.width {
		r.conn.row = make([]driver.Value, r.width)
	}
	row := r.conn.row[:r.width]
	for size := 0; size < maxAhead; {
		if err := r.Rows.Next(row); err != nil {
			r.ended(err)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		size += r.keep(row)
	}
	return nil
}

// ended notes that the answer has no more rows.
func (r *rows) ended(err error) {
	r.end = err
	if r.conn.reading == r {
		r.conn.reading = nil
	}
}

// keep keeps a row and returns about how many bytes it takes.
func (r *rows) keep(row []driver.Value) int {
	const header = 16 // of each value
	size := header * len(row)
	for _, value := range row {
		switch v := value.(type) {
		case []byte:
			value = r.keepBytes(v)
			size += len(v)
		case string:
			size += len(v)
		}
		r.buffer.values = append(r.buffer.values, value)
	}
	return size
}

// keepBytes returns a copy. If the buffer has to grow, what it had stays if it is.
func (r *rows) keepBytes(v []byte) []byte {
	const least = 1 << 10
	if b := r.buffer.bytes; cap(b)-len(b) < len(v) || b == nil {
		r.buffer.bytes = make([]byte, 0, max(least, 2*cap(b), len(v)))
	}
	begin := len(r.buffer.bytes)
	r.buffer.bytes = append(r.buffer.bytes, v...)
	return r.buffer.bytes[begin:len(r.buffer.bytes):len(r.buffer.bytes)]
}

// Next implements driver.Rows.
func (r *rows) Next(row []driver.Value) error {
	if r.next < len(r.buffer.values) {
		r.next += copy(row, r.buffer.values[r.next:r.next+r.width])
		return nil
	}
	if r.end != nil {
		return r.end
	}
	err := r.Rows.Next(row)
	if err != nil {
		r.ended(err)
	}
	return err
}

// Close implements driver.Rows. The bytes of the rows are no longer valid, as database/sql/driver has it. Unread rows
// are passed over here, because lib/pq would read each into its own memory. lib/pq may have read an answer without
// columns to its end, so that to wait for more of it would take until the deadline.
func (r *rows) Close() error {
	if r.end == nil && r.width > 0 {
		r.conn.pipeline.skipRows()
	}
	if cap(r.buffer.values) <= spareValues && cap(r.buffer.bytes) <= spareBytes && r.conn != nil {
		clear(r.buffer.values)
		r.conn.spare = buffer{r.buffer.values[:0], r.buffer.bytes[:0]}
	}
	err := r.Rows.Close()
	r.ended(io.EOF)
	r.buffer, r.next = buffer{}, 0
	return err
}
