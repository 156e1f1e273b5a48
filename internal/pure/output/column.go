package output

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"slipway/internal/base/meter"
)

// Column has the declared outputs of a module version in a database, decoded when they are asked for. The zero value is
// NULL: none are declared.
type Column struct{ text json.RawMessage }

// NewColumn returns the column of a list.
func NewColumn(list []Declared) (Column, error) {
	if len(list) == 0 {
		return Column{}, nil
	}
	text, err := json.Marshal(list)
	return Column{text}, err
}

// Declared decodes the outputs, which counts as work of the context's request.
func (c Column) Declared(ctx context.Context) ([]Declared, error) {
	if err := meter.Decode(ctx, meter.Inputs, c.text); err != nil || c.text == nil {
		return nil, err
	}
	var list []Declared
	if err := json.Unmarshal(c.text, &list); err != nil {
		return nil, fmt.Errorf("stored outputs: %w", err)
	}
	return list, nil
}

// JSON returns what is stored, nil for NULL. It must not be changed.
func (c Column) JSON() json.RawMessage { return c.text }

// Value implements driver.Valuer.
func (c Column) Value() (driver.Value, error) {
	if c.text == nil {
		return nil, nil
	}
	return string(c.text), nil
}

// Scan implements sql.Scanner. It copies, for the driver may use its buffer again.
func (c *Column) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		c.text = nil
	case []byte:
		c.text = bytes.Clone(src)
	case string:
		c.text = json.RawMessage(src)
	default:
		return fmt.Errorf("scan outputs: a column of text was expected, found %T", src)
	}
	return nil
}
