package ecs

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"

	"slipway/internal/base/strictjson"
)

// Encode returns data as JSON, fields in the order of the struct.
func (d *Data) Encode() json.RawMessage { return strictjson.Encode(d) }

// Column returns data as its column, or the zero Column for nil.
func (d *Data) Column() Column {
	if d == nil {
		return Column{}
	}
	return Column{d.Encode()}
}

// Column is data as the database has it: the output of Encode, or nothing. It is read into a Data only
// when someone looks inside.
type Column struct {
	raw json.RawMessage
}

// IsZero reports whether there is no data.
func (c Column) IsZero() bool { return len(c.raw) == 0 }

// JSON returns the stored text, nil if there is none.
func (c Column) JSON() json.RawMessage { return c.raw }

// Data reads the stored text; both are nil if there is none. The error says that the text is not
// what Encode writes.
func (c Column) Data() (*Data, error) {
	if c.IsZero() {
		return nil, nil
	}
	d := new(Data)
	if err := json.Unmarshal(c.raw, d); err != nil {
		return nil, fmt.Errorf("ecs: read the stored data: %w", err)
	}
	return d, nil
}

// Target is Data with nothing but what a replay takes over: cluster, service and the switches of the hooks. To read the
// rest, which is most of it, takes longer than all else that a rollback computes.
func (c Column) Target() (*Data, error) {
	if c.IsZero() {
		return nil, nil
	}

	target := &Data{Type: Type}
	err := strictjson.EachMember(c.raw, func(name, value []byte) error {
		switch string(name) {
		case "clusterArn":
			return json.Unmarshal(value, &target.ClusterARN)
		case "serviceArn":
			return json.Unmarshal(value, &target.ServiceARN)
		case "preDeployEnabled":
			return json.Unmarshal(value, &target.PreDeployEnabled)
		case "postDeployEnabled":
			return json.Unmarshal(value, &target.PostDeployEnabled)
		default:
			return nil
		}
	})

	if err != nil {
		return nil, fmt.Errorf("ecs: read the stored data: %w", err)
	}
	return target, nil
}

// DeployedTaskDefinition reads nothing but that, nil if there is none.
func (c Column) DeployedTaskDefinition() (*TaskDefinition, error) {
	if c.IsZero() {
		return nil, nil
	}
	var deployed *TaskDefinition
	err := strictjson.EachMember(c.raw, func(name, value []byte) (err error) {
		if string(name) == "deployedTaskDefinition" && string(value) != "null" {
			deployed, err = readTaskDefinition(value)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ecs: read the stored data: %w", err)
	}
	return deployed, nil
}

// readTaskDefinition reads the text of a task definition as it is stored, and keeps its definition as a part of that.
// Members that it does not have are passed over.
func readTaskDefinition(text []byte) (*TaskDefinition, error) {
	if !json.Valid(text) {
		return nil, errors.New("a task definition is no JSON")
	}
	d := new(TaskDefinition)

	err := strictjson.EachMember(text, func(name, value []byte) (err error) {
		switch string(name) {
		case "arn":
			err = json.Unmarshal(value, &d.ARN)
		case "definition":
			d.Definition = value
			if value[0] != '{' {
				err = errors.New("must be an object")
			}
		case "revision":
			err = json.Unmarshal(value, &d.Revision)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})

	return d, err
}

// Value implements driver.Valuer.
func (c Column) Value() (driver.Value, error) {
	if c.IsZero() {
		return nil, nil
	}
	return string(c.raw), nil
}

// Scan implements sql.Scanner. It copies, for the driver keeps its buffer.
func (c *Column) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		c.raw = nil
	case string:
		c.raw = json.RawMessage(v)
	case []byte:
		c.raw = bytes.Clone(v)
	default:
		return fmt.Errorf("ecs: scan data: must be text or bytes, found %T", value)
	}
	return nil
}
