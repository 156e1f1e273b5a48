// Package scalar has the Go forms of the schema's own scalars and abstract types. It is a package of its
// own because the generated code imports it.
package scalar

import (
	"encoding/json"
	"io"
	"time"

	"slipway/internal/strictjson"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/fault"
)

// Node is a record with a global id; see the interface of the schema.
type Node interface{}

// DeploymentData is the detail of a deployment; see the union of the schema.
type DeploymentData interface{}

// MarshalJSON writes a JSON value as it is.
func MarshalJSON(v json.RawMessage) graphql.Marshaler {
	if v == nil {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(v) })
}

// UnmarshalJSON takes any value. Numbers of variables keep their digits.
func UnmarshalJSON(v any) (json.RawMessage, error) {
	n, err := strictjson.FromValue(v)
	if err != nil {
		return nil, refused(err)
	}
	return n.JSON(), nil
}

// MarshalUtcDateTime writes a time in UTC.
func MarshalUtcDateTime(t time.Time) graphql.Marshaler {
	return graphql.MarshalString(t.UTC().Format(time.RFC3339Nano))
}

// UnmarshalUtcDateTime reads a time, which must be in UTC.
func UnmarshalUtcDateTime(v any) (time.Time, error) {
	t, err := utcDateTime(v)
	if err != nil {
		return time.Time{}, refused(err)
	}
	return t, nil
}

// MarshalDateTimeText writes a time that is kept as the text it was sent as.
func MarshalDateTimeText(text string) graphql.Marshaler { return graphql.MarshalString(text) }

// UnmarshalDateTimeText reads a time and keeps its text.
func UnmarshalDateTimeText(v any) (string, error) {
	if _, err := UnmarshalUtcDateTime(v); err != nil {
		return "", err
	}
	text, _ := v.(string)
	return text, nil
}

// MarshalGivenID writes a GivenId.
func MarshalGivenID(text string) graphql.Marshaler { return graphql.MarshalString(text) }

// UnmarshalGivenID reads a GivenId.
func UnmarshalGivenID(v any) (string, error) {
	if err := checkGivenID(v); err != nil {
		return "", refused(err)
	}
	text, _ := v.(string)
	return text, nil
}

// refused is for a decoder that is called without the checks before it.
func refused(err error) error {
	return fault.New(fault.RequestInvalid, "The value %s.", err).WithCause(err)
}
