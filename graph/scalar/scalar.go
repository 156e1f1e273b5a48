// Package scalar has the Go forms of the schema's own scalars and abstract types. It is a package of its
// own because the generated code imports it.
package scalar

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"slipway/internal/fault"
	"slipway/internal/inputprop"
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
	n, err := inputprop.FromValue(v)
	if err != nil {
		return nil, fault.New(fault.RequestInvalid, "not a JSON value: %s", err).Because(err)
	}
	return n.JSON(), nil
}

// MarshalUtcDateTime writes a time in UTC.
func MarshalUtcDateTime(t time.Time) graphql.Marshaler {
	return graphql.MarshalString(t.UTC().Format(time.RFC3339Nano))
}

var utcDateTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$`)

// UnmarshalUtcDateTime reads a time, which must be in UTC.
func UnmarshalUtcDateTime(v any) (time.Time, error) {
	text, ok := v.(string)
	if ok && utcDateTime.MatchString(text) {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.RequestInvalid,
		"not a UtcDateTime: want an RFC 3339 time in UTC such as 2026-03-01T09:30:00Z, got %s", shown(v))
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

var givenID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$`)

// MarshalGivenID writes a GivenId.
func MarshalGivenID(text string) graphql.Marshaler { return graphql.MarshalString(text) }

// UnmarshalGivenID reads a GivenId.
func UnmarshalGivenID(v any) (string, error) {
	text, ok := v.(string)
	if !ok || !givenID.MatchString(text) {
		return "", fault.New(fault.RequestInvalid,
			"not a GivenId: want 1 to 60 letters, digits, underscores and hyphens, the first a letter or digit, got %s", shown(v))
	}
	return text, nil
}

// shown names a value without repeating more of it than helps.
func shown(v any) string { return fmt.Sprintf("%.80q", fmt.Sprint(v)) }
