package ecs

import (
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
)

func init() {
	strictjson.RegisterFormat("utc_time", strictjson.Format{Flaw: timeFlaw, Message: timeMessage})
}

// DecodePatch reads what Merge takes: data that may leave out its type, for there is only one. Members that data does
// not have are dropped, for the cloud adds some; inside a definition everything is kept. Whatever else is wrong is in
// the violations, whose pointers start at the data; there is no data then.
func DecodePatch(n *strictjson.Node) (*Data, []fault.Violation) {
	data := new(Data)
	violations := strictjson.DecodeOpen(n, data, "")
	data.Type = Type
	return decoded(data, violations)
}

// DecodeNew reads what a caller knows of a deployment beforehand. It is DecodePatch, but for two things: what Slipway
// itself fills must be left out, and members that nothing declares are refused, at every depth but inside a definition.
func DecodeNew(n *strictjson.Node) (*Data, []fault.Violation) {
	data, d := new(Data), strictjson.NewDecoder("")
	for _, name := range filled {
		if n.Get(name) != nil {
			d.FailMember(name, "read_only", "is filled by Slipway and must be left out")
		}
	}
	d.Into(n, data, &strictjson.Rules{})
	data.Type = Type
	return decoded(data, d.Violations())
}

// DecodeArtifact reads the task definition of a new release. Members that it does not have are refused; inside its
// definition everything is kept. The pointers of violations start at it.
func DecodeArtifact(n *strictjson.Node) (*TaskDefinition, []fault.Violation) {
	definition := new(TaskDefinition)
	return decoded(definition, strictjson.Decode(n, definition, ""))
}

// decoded returns a value, or what is wrong with it.
func decoded[T any](value *T, violations []fault.Violation) (*T, []fault.Violation) {
	if len(violations) > 0 {
		return nil, violations
	}
	return value, nil
}

const timeMessage = "must be a UTC date-time with Z and at most 9 digits of fraction, " +
	"such as 2026-01-31T09:30:00.5Z, found %s%s"

// timeFlaw reports what time.Parse would let pass: other offsets, short hours, decimal commas and fractions of any
// length.
func timeFlaw(text string) string {
	const whole = len("2006-01-02T15:04:05Z")
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return ": it is no date-time"
	}
	digits := len(text) - whole - len(".")
	switch {
	case !strings.HasSuffix(text, "Z"):
		return ": it is not in UTC with Z"
	case len(text) != whole && (digits < 1 || digits > 9 || text[whole-1] != '.'):
		return ": its seconds are not as they should be"
	}
	return ""
}
