package page

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"slipway/internal/fault"
)

// Scope is what a cursor is valid for: one list, one filter, one viewer.
type Scope struct {
	// List names the list.
	List string
	// Viewer is the organization of the caller, "" for callers without one.
	Viewer string
	// Filter has every condition on the list. Filters are equal if their JSON is.
	Filter any
}

// position has the sort keys of a record in a list.
type position struct {
	at time.Time
	id string
}

// binding is the digest of a Scope. It is in each cursor, so that the cursor is refused for another Scope.
type binding [8]byte

func (s Scope) binding() binding {
	encoded, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Errorf("page: the filter of %s is no JSON: %w", s.List, err))
	}
	sum := sha256.Sum256(encoded)
	return binding(sum[:8])
}

// write returns a cursor: the binding, the microseconds of the time and the id, in base64.
func (b binding) write(p position) string {
	raw := make([]byte, 0, len(b)+8+len(p.id))
	raw = append(raw, b[:]...)
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.at.UnixMicro()))
	raw = append(raw, p.id...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// maxCursor is the longest text of a cursor; those with ids are much shorter.
const maxCursor = 200

// read decodes a cursor. It returns nil for no cursor, and RequestCursorInvalid for one that write has not made.
func (b binding) read(name string, cursor *string) (*position, error) {
	if cursor == nil {
		return nil, nil
	}
	invalid := fault.New(fault.RequestCursorInvalid, "%s is not a cursor of this list, this filter and this caller.", name)
	if len(*cursor) > maxCursor {
		return nil, invalid
	}
	raw, err := base64.RawURLEncoding.DecodeString(*cursor)
	if err != nil {
		return nil, invalid.WithCause(err)
	}
	if len(raw) <= len(b)+8 {
		return nil, invalid
	}
	at := time.UnixMicro(int64(binary.BigEndian.Uint64(raw[len(b):]))).UTC()
	p := position{at, string(raw[len(b)+8:])}
	if b.write(p) != *cursor || !p.storable() {
		return nil, invalid
	}
	return &p, nil
}

// storable reports whether the databases can compare with the position. In a cursor that was tampered with, the time or
// the id may not be valid.
func (p position) storable() bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	return p.at.Year() > 0 && p.at.Year() < 10_000 && strings.IndexFunc(p.id, odd) < 0
}
