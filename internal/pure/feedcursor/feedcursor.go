// Package feedcursor defines positions in an organization's feed, and the cursors by which clients go on behind one.
package feedcursor

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"time"

	"slipway/internal/base/fault"
)

// Position is the place of a change in the order in which changes are read. On PostgreSQL that is the order of the
// transactions that wrote them, and in one transaction that of their ids; on SQLite, where transactions are written
// one after the other, the order of the ids. The zero Position is before all changes.
type Position struct{ Transaction, ID int64 }

// Compare returns -1 if p comes before q, 1 if it comes after, 0 if they are the same.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Transaction, q.Transaction), cmp.Compare(p.ID, q.ID))
}

// Cursor is a place in an organization's feed: behind one of its changes or, as its zero Position, before all of them.
type Cursor struct {
	Position
	// At is when the change was made, or when there was none yet.
	At time.Time
	// Before reports whether the change itself is still to come, and only versions that it has passed were sent.
	Before bool
}

// Begins returns the position behind which the reading goes on.
func (c Cursor) Begins() Position {
	if c.Before {
		return Position{Transaction: c.Transaction, ID: c.ID - 1}
	}
	return c.Position
}

// maxCursor is the longest text of a cursor.
const maxCursor = 60

// The first byte of a cursor says what it is behind. A cursor of another form will have another one.
const (
	behindChange = 1
	beforeChange = 2
)

// String returns the text of a cursor, which means nothing to clients.
func (c Cursor) String() string {
	raw := []byte{behindChange}
	if c.Before {
		raw[0] = beforeChange
	}
	for _, n := range []int64{c.Transaction, c.ID, c.At.UnixMicro()} {
		raw = binary.AppendUvarint(raw, uint64(n))
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Parse returns the cursor of a text, or RequestCursorInvalid if String does not write it so.
func Parse(text string) (Cursor, error) {
	invalid := fault.New(fault.RequestCursorInvalid, "after is not a cursor of the feed.")
	if len(text) > maxCursor {
		return Cursor{}, invalid
	}

	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return Cursor{}, invalid
	}

	isBefore := raw[0] == beforeChange
	raw = raw[1:]
	var numbers [3]int64
	for i := range numbers {
		n, length := binary.Uvarint(raw)
		numbers[i] = int64(n)
		if length <= 0 || numbers[i] < 0 {
			return Cursor{}, invalid
		}
		raw = raw[length:]
	}

	c := Cursor{Position{Transaction: numbers[0], ID: numbers[1]}, time.UnixMicro(numbers[2]).UTC(), isBefore}
	if c.String() != text {
		return Cursor{}, invalid
	}
	return c, nil
}
