package store

import (
	"context"
	"time"

	"slipway/ent"
	"slipway/internal/base/fault"
	"slipway/internal/base/id"
)

// Now returns the time as both databases keep it: UTC, whole microseconds.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// CheckID returns NotFound with the code for a text that cannot be the id of a record of the kind.
func CheckID(kind id.Kind, text string, code fault.Code) error {
	if !id.Of(kind, text) {
		return NotFound(text, code)
	}
	return nil
}

// Find returns the record that get reads by its id, or NotFound with the code if there is none of the kind.
func Find[T any](
	ctx context.Context, get func(context.Context, string) (*T, error), kind id.Kind, text string, code fault.Code,
) (*T, error) {
	if err := CheckID(kind, text, code); err != nil {
		return nil, err
	}
	record, err := get(ctx, text)
	return NotFoundAs(record, err, text, code)
}

// NotFoundAs returns a record that was read by its id, or NotFound with the code if there is none. What is
// absent and what is another organization's are answered alike.
func NotFoundAs[T any](record *T, err error, text string, code fault.Code) (*T, error) {
	if ent.IsNotFound(err) {
		return nil, NotFound(text, code)
	}
	return record, err
}

// NotFound returns the error of an id that names nothing which the caller may see.
func NotFound(text string, code fault.Code) error { return NotFoundBy("id", text, code) }

// NotFoundBy returns the error of a text of some kind, such as a path, that names nothing which the caller may see.
func NotFoundBy(kind, text string, code fault.Code) error {
	const most = 100
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fault.New(code, "%s with the %s %q not found.", code.Noun(), kind, text)
}
