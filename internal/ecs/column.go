package ecs

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"

	"slipway/internal/strictjson"
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

// JSON returns the stored text, nil where there is none.
func (c Column) JSON() json.RawMessage { return c.raw }

// Data reads the stored text; both are nil where there is none. The error says that the text is not
// what Encode writes.
func (c Column) Data() (*Data, error) {
	if c.IsZero() {
		return nil, nil
	}
	d := new(Data)
	if err := read(c.raw, d); err != nil {
		return nil, err
	}
	return d, nil
}

// Target is Data with nothing but what a replay takes over: cluster, service and the switches of the hooks. To read the
// rest, which is most of it, takes longer than all else that a rollback computes.
func (c Column) Target() (*Data, error) {
	if c.IsZero() {
		return nil, nil
	}
	var target struct {
		ClusterARN        *string `json:"clusterArn"`
		ServiceARN        *string `json:"serviceArn"`
		PreDeployEnabled  *bool   `json:"preDeployEnabled"`
		PostDeployEnabled *bool   `json:"postDeployEnabled"`
	}
	if err := read(members(c.raw, "clusterArn", "serviceArn", "preDeployEnabled", "postDeployEnabled"), &target); err != nil {
		return nil, err
	}
	return &Data{
		Type: Type, ClusterARN: target.ClusterARN, ServiceARN: target.ServiceARN,
		PreDeployEnabled: target.PreDeployEnabled, PostDeployEnabled: target.PostDeployEnabled,
	}, nil
}

// DeployedTaskDefinition reads nothing but that, nil where there is none.
func (c Column) DeployedTaskDefinition() (*TaskDefinition, error) {
	if c.IsZero() {
		return nil, nil
	}
	var data struct {
		Deployed *TaskDefinition `json:"deployedTaskDefinition"`
	}
	err := read(members(c.raw, "deployedTaskDefinition"), &data)
	return data.Deployed, err
}

func read(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("ecs: read the stored data: %w", err)
	}
	return nil
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
