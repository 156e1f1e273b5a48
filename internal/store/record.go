package store

import (
	"time"

	"slipway/ent"
	"slipway/internal/fault"
	"slipway/internal/id"
)

// Now is the time as both databases keep it: UTC, whole microseconds.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// CheckID refuses, as code, an id that cannot be the id of anything of its kind.
func CheckID(kind id.Kind, text string, code fault.Code) error {
	if !id.Of(kind, text) {
		return NotFound(text, code)
	}
	return nil
}

// NotFoundAs returns a record that was read by its id, and refuses as code what was not found. What is absent
// and what is another organization's are told alike.
func NotFoundAs[T any](record *T, err error, text string, code fault.Code) (*T, error) {
	if ent.IsNotFound(err) {
		return nil, NotFound(text, code)
	}
	return record, err
}

// NotFound is the refusal of an id that names nothing.
func NotFound(text string, code fault.Code) error {
	const most = 100
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fault.New(code, "There is nothing with the id %q that you may see.", text)
}
