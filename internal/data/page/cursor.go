package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/id"
)

// Scope is what a cursor is valid for: one list, one filter, one viewer.
type Scope struct {
	// List names the list.
	List string
	// Viewer is the organization of the caller, "" for callers without one.
	Viewer string
	// Filter has every condition on the list, and its order. Filters are equal if their JSON is.
	Filter any
}

// position has the sort keys of a record in a list: a time or a folded name in hexadecimal, and the id.
type position struct {
	at   time.Time
	name string
	id   string
}

// binding is a digest of a Scope. It is in each cursor, so that the cursor is refused for another Scope. It is no
// secret and guards nothing: the conditions of a list do not come from the cursor, which only says where to go on. So
// it has as many bytes as it takes to notice a mistake: a cursor passes for one of another list with a chance of 1 in 4
// billion.
type binding [4]byte

func (s Scope) binding() binding {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Errorf("page: the filter of %s is no JSON: %w", s.List, err))
	}
	sum := sha256.Sum256(encoded)
	return binding(sum[:])
}

// yearOne is the Unix time, in microseconds, of the time that is zero in a cursor.
const yearOne = -62_135_596_800_000_000

// write returns a cursor: the binding, the microseconds of the time since the year one and the id, in base64. An id is
// in its binary form. Another text comes after a byte of 0, which no binary id begins with. A name comes after a byte
// of 255, which none begins with either, and its length, before the id.
func (b binding) write(p position) string {
	var space [128]byte
	return string(b.append(space[:0], p))
}

func (b binding) append(text []byte, p position) []byte {
	var space [64]byte
	raw := binary.AppendUvarint(append(space[:0], b[:]...), uint64(p.at.UnixMicro()-yearOne))
	if p.name != "" {
		name, err := hex.DecodeString(p.name)
		if err != nil {
			panic(fmt.Errorf("page: the key of a name is not in hexadecimal: %w", err)) // it is made by textrules.NameKey
		}
		raw = append(binary.AppendUvarint(append(raw, byName), uint64(len(name))), name...)
	}
	raw, isID := id.AppendBinary(raw, p.id)
	if !isID {
		raw = append(append(raw, 0), p.id...)
	}
	return base64.RawURLEncoding.AppendEncode(text, raw)
}

// byName is the byte before a name.
const byName = 255

// maxCursor is the longest text of a cursor, which has a name of 200 characters of four bytes; most are much shorter.
const maxCursor = 1200

// read decodes a cursor. It returns nil for no cursor, and RequestCursorInvalid for one that write has not made.
func (b binding) read(name string, cursor *string) (*position, error) {
	if cursor == nil {
		return nil, nil
	}
	if p, ok := b.parse(*cursor); ok {
		return &p, nil
	}
	return nil, fault.New(fault.RequestCursorInvalid,
		"%s is not a cursor of this list, this filter and this caller.", name)
}

// parse returns the position of a cursor, and reports whether it is one that write has made.
func (b binding) parse(cursor string) (p position, ok bool) {
	if len(cursor) > maxCursor {
		return p, false
	}

	var space [128]byte
	raw, err := base64.RawURLEncoding.AppendDecode(space[:0], []byte(cursor))
	if err != nil || len(raw) <= len(b) {
		return p, false
	}

	micros, n := binary.Uvarint(raw[len(b):])
	if n <= 0 || micros > math.MaxInt64 {
		return p, false
	}
	// In two steps, for the Unix time of a very late time is too large in microseconds.
	p.at = time.Unix(int64(micros/1e6)+yearOne/1e6, int64(micros%1e6)*1e3).UTC()

	last := raw[len(b)+n:]
	if len(last) > 0 && last[0] == byName {
		length, n := binary.Uvarint(last[1:])
		if n <= 0 || length == 0 || length > uint64(len(last)-1-n) {
			return p, false
		}
		p.name = hex.EncodeToString(last[1+n : 1+n+int(length)])
		last = last[1+n+int(length):]
	}
	if len(last) > 1 && last[0] == 0 {
		p.id, ok = string(last[1:]), true
	} else {
		p.id, ok = id.FromBinary(last)
	}
	if !ok || !p.storable() {
		return p, false
	}

	// The same position has one cursor: another text for it was tampered with.
	var again [128]byte
	return p, string(b.append(again[:0], p)) == cursor
}

// storable reports whether the databases can compare with the position. In a cursor that was tampered with, the time or
// the id may not be valid.
func (p position) storable() bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return p.at.Year() > 0 && p.at.Year() < 10_000 && strings.IndexFunc(p.id, odd) < 0
}
