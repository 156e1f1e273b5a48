package inputprop

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"

	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
)

// Column is a property in a database, kept as the JSON that Encode writes and decoded when asked for.
// The zero value is NULL.
type Column struct{ stored }

// NewColumn is the column of a property.
func NewColumn(p Property) Column { return Column{stored{Encode(p)}} }

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
	n, err := c.tree()
	if err != nil {
		return nil, err
	}
	p, violations := NewRawProperty(n).Decode("")
	return p, broken(violations)
}

// isOf reports whether a column has the value of a tree, as Equal does.
func (c Column) isOf(n *strictjson.Node) bool {
	kept, err := c.tree()
	return err == nil && strictjson.Equal(kept, n)
}

// Equal reports whether two columns have the same value, whatever the order of the members of objects and the
// spelling of numbers.
func (c Column) Equal(other Column) bool {
	if bytes.Equal(c.text, other.text) {
		return true
	}
	a, errA := c.tree()
	b, errB := other.tree()
	return errA == nil && errB == nil && strictjson.Equal(a, b)
}

// ListColumn is a list of properties in a database, as Column is one. The zero value is NULL.
type ListColumn struct{ stored }

// NewListColumn is the column of a list; nil is the empty list.
func NewListColumn(list []Property) ListColumn { return ListColumn{stored{EncodeList(list)}} }

// Properties decodes the list, nil for NULL, which counts as work of the context's request. It fails where what is
// stored is no list of properties.
func (c ListColumn) Properties(ctx context.Context) ([]Property, error) {
	if err := meter.Decode(ctx, meter.Inputs, c.text); err != nil || c.text == nil {
		return nil, err
	}
	n, err := c.tree()
	if err != nil {
		return nil, err
	}
	list, violations := DecodeList(n, "")
	return list, broken(violations)
}

// stored is what a database has of a column: JSON, nil for NULL.
type stored struct{ text json.RawMessage }

// JSON is what is stored, nil for NULL. It must not be changed.
func (s stored) JSON() json.RawMessage { return s.text }

// Value implements driver.Valuer.
func (s stored) Value() (driver.Value, error) {
	if s.text == nil {
		return nil, nil
	}
	return string(s.text), nil
}

// Scan implements sql.Scanner. It copies, for the driver may use its buffer again.
func (s *stored) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		s.text = nil
	case []byte:
		s.text = bytes.Clone(src)
	case string:
		s.text = json.RawMessage(src)
	default:
		return fmt.Errorf("scan inputs: a column of text was expected, found %T", src)
	}
	return nil
}

// tree parses what was within the limits when it was written; a list adds a level around its
// properties, and the other spelling of a text some bytes.
func (s stored) tree() (*strictjson.Node, error) {
	n, err := strictjson.ParseWithin(s.text, strictjson.Limits{Depth: strictjson.MaxLevels + 1, Bytes: math.MaxInt})
	if err != nil {
		return nil, fmt.Errorf("stored inputs: %w", err)
	}
	return n, nil
}

func broken(violations []fault.Violation) error {
	if len(violations) == 0 {
		return nil
	}
	return fmt.Errorf("stored inputs: %d violations, the first at %q: %s",
		len(violations), violations[0].Pointer, violations[0].Message)
}
