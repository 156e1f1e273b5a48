package inputprop

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"

	"slipway/internal/fault"
	"slipway/internal/meter"
	"slipway/internal/strictjson"
)

// Column is a property in a database, kept as the JSON that Encode writes and decoded when asked for.
// The zero value is NULL.
type Column struct{ text json.RawMessage }

// NewColumn is the column of a property.
func NewColumn(p Property) Column { return Column{Encode(p)} }

// JSON is the property's JSON, nil for NULL. It must not be changed.
func (c Column) JSON() json.RawMessage { return c.text }

// Property decodes the property, nil for NULL, which counts as work of the context's request. It fails where what is
// stored is no property.
func (c Column) Property(ctx context.Context) (Property, error) {
	if err := meter.Decode(ctx, meter.Inputs, c.text); err != nil {
		return nil, err
	}
	return c.property()
}

func (c Column) property() (Property, error) {
	if c.text == nil {
		return nil, nil
	}
	n, err := stored(c.text)
	if err != nil {
		return nil, err
	}
	p, violations := NewRawProperty(n).Decode("")
	return p, broken(violations)
}

// isOf reports whether a column has the value of a tree, as Equal does.
func (c Column) isOf(n *strictjson.Node) bool {
	kept, err := stored(c.text)
	return err == nil && strictjson.Equal(kept, n)
}

// Equal reports whether two columns have the same value, whatever the order of the members of objects and the
// spelling of numbers.
func (c Column) Equal(other Column) bool {
	if bytes.Equal(c.text, other.text) {
		return true
	}
	a, errA := stored(c.text)
	b, errB := stored(other.text)
	return errA == nil && errB == nil && strictjson.Equal(a, b)
}

// Value implements driver.Valuer.
func (c Column) Value() (driver.Value, error) { return value(c.text), nil }

// Scan implements sql.Scanner.
func (c *Column) Scan(src any) error { return scan(&c.text, src) }

// ListColumn is a list of properties in a database, as Column is one. The zero value is NULL.
type ListColumn struct{ text json.RawMessage }

// NewListColumn is the column of a list; nil is the empty list.
func NewListColumn(list []Property) ListColumn { return ListColumn{EncodeList(list)} }

// JSON is the list's JSON, nil for NULL. It must not be changed.
func (c ListColumn) JSON() json.RawMessage { return c.text }

// Properties decodes the list, nil for NULL, which counts as work of the context's request. It fails where what is
// stored is no list of properties.
func (c ListColumn) Properties(ctx context.Context) ([]Property, error) {
	if err := meter.Decode(ctx, meter.Inputs, c.text); err != nil || c.text == nil {
		return nil, err
	}
	n, err := stored(c.text)
	if err != nil {
		return nil, err
	}
	list, violations := DecodeList(n, "")
	return list, broken(violations)
}

// Value implements driver.Valuer.
func (c ListColumn) Value() (driver.Value, error) { return value(c.text), nil }

// Scan implements sql.Scanner.
func (c *ListColumn) Scan(src any) error { return scan(&c.text, src) }

func value(text json.RawMessage) driver.Value {
	if text == nil {
		return nil
	}
	return string(text)
}

// scan copies, for the driver may use its buffer again.
func scan(text *json.RawMessage, src any) error {
	switch src := src.(type) {
	case nil:
		*text = nil
	case []byte:
		*text = bytes.Clone(src)
	case string:
		*text = json.RawMessage(src)
	default:
		return fmt.Errorf("scan inputs: a column of text was expected, found %T", src)
	}
	return nil
}

// stored parses what was within the limits when it was written; a list adds a level around its
// properties, and the other spelling of a text some bytes.
func stored(text []byte) (*strictjson.Node, error) {
	n, err := strictjson.ParseWithin(text, strictjson.Limits{Depth: strictjson.MaxLevels + 1, Bytes: math.MaxInt})
	if err != nil {
		return nil, fmt.Errorf("stored inputs: %w", err)
	}
	return n, nil
}

func broken(violations []fault.Violation) error {
	if len(violations) == 0 {
		return nil
	}
	return fmt.Errorf("stored inputs: %d violations, the first at %q: %s", len(violations), violations[0].Pointer, violations[0].Message)
}
