// Package scalar has the Go forms of the schema's own scalars and abstract types. It is a package of its
// own because the generated code imports it.
package scalar

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/graph/plan"
	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/edge/gqlhttp/document"
	"slipway/internal/pure/inputprop"
)

// Node is a record with a global id; see the interface of the schema.
type Node interface{}

// RuleDemand is what a rule demands; see the union of the schema.
type RuleDemand interface{}

// DeploymentData is the detail of a deployment; see the union of the schema.
type DeploymentData interface{}

// MarshalJSON writes a JSON value as it is.
func MarshalJSON(v json.RawMessage) graphql.Marshaler {
	if v == nil {
		return graphql.Null
	}
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(v) })
}

// AppendJSON appends what MarshalJSON writes; if that is null, nothing.
func AppendJSON(b []byte, v json.RawMessage) []byte { return append(b, v...) }

// UnmarshalJSON takes any value, as text.
func UnmarshalJSON(v any) (json.RawMessage, error) {
	n, err := node(v)
	return n.JSON(), err
}

// MarshalJSONNode writes a JSON value as it was written.
func MarshalJSONNode(n *strictjson.Node) graphql.Marshaler { return MarshalJSON(n.JSON()) }

// UnmarshalJSONNode takes any value, as the caller has written it.
func UnmarshalJSONNode(v any) (*strictjson.Node, error) { return node(v) }

// MarshalRawProperty is there because gqlgen asks for it: the type is an input.
func MarshalRawProperty(inputprop.RawProperty) graphql.Marshaler { return graphql.Null }

// UnmarshalRawProperty takes a property in the typed form, which has one member.
func UnmarshalRawProperty(v any) (inputprop.RawProperty, error) {
	n, err := node(v)
	return inputprop.NewTypedProperty(n), err
}

// MarshalUtcDateTime writes a time in UTC.
func MarshalUtcDateTime(t time.Time) graphql.Marshaler {
	return graphql.MarshalString(t.UTC().Format(time.RFC3339Nano))
}

// AppendUtcDateTime appends what MarshalUtcDateTime writes.
func AppendUtcDateTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// UnmarshalUtcDateTime reads a time, which must be in UTC.
func UnmarshalUtcDateTime(v any) (time.Time, error) {
	n, err := node(v)
	if err != nil {
		return time.Time{}, err
	}
	t, err := utcDateTime(document.Value{Node: n})
	return t, refused(err)
}

// MarshalDateTimeText writes a time that is kept as the text it was sent as.
func MarshalDateTimeText(text string) graphql.Marshaler { return graphql.MarshalString(text) }

// UnmarshalDateTimeText reads a time and keeps its text.
func UnmarshalDateTimeText(v any) (string, error) {
	if _, err := UnmarshalUtcDateTime(v); err != nil {
		return "", err
	}
	return v.(*strictjson.Node).Text, nil
}

// AppendDateTimeText appends what MarshalDateTimeText writes.
func AppendDateTimeText(b []byte, text string) []byte { return plan.AppendString(b, text) }

// MarshalGivenID writes a GivenId.
func MarshalGivenID(text string) graphql.Marshaler { return graphql.MarshalString(text) }

// AppendGivenID appends what MarshalGivenID writes.
func AppendGivenID(b []byte, text string) []byte { return plan.AppendString(b, text) }

// UnmarshalGivenID reads a GivenId.
func UnmarshalGivenID(v any) (string, error) {
	n, err := node(v)
	if err != nil {
		return "", err
	}
	return n.Text, refused(checkGivenID(document.Value{Node: n}))
}

// node returns a value of a scalar as package document hands it over.
func node(v any) (*strictjson.Node, error) {
	if n, ok := v.(*strictjson.Node); ok {
		return n, nil
	}
	return nil, fmt.Errorf("scalar: a value must come as a tree, found the Go type %T", v)
}

// refused is the refusal of a value by a decoder that is called without the checks before it, nil for nil.
func refused(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.RequestInvalid, "The value %s.", err).WithCause(err)
}
