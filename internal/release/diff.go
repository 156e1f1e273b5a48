package release

import "encoding/json"

// ChangeKind is how a leaf differs.
type ChangeKind string

// How a leaf differs.
const (
	Added   ChangeKind = "ADDED"
	Removed ChangeKind = "REMOVED"
	Changed ChangeKind = "CHANGED"
)

// Change is one leaf that differs between two values.
type Change struct {
	// Pointer is the place, a JSON Pointer.
	Pointer string
	Kind    ChangeKind
	// Before and After are JSON, nil where there is none or where they are Masked.
	Before, After json.RawMessage
	// Masked says that the values look like a secret.
	Masked bool
	// Immutable says that the leaf belongs to an input that must not change.
	Immutable bool
}

// BeforeJSON gives Before; without one it is JSON's null.
func (c Change) BeforeJSON() json.RawMessage { return c.Before }

// AfterJSON gives After; without one it is JSON's null.
func (c Change) AfterJSON() json.RawMessage { return c.After }
