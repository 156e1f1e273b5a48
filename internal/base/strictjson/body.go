package strictjson

import (
	"errors"

	"slipway/internal/base/fault"
)

// MaxBodyLevels is how deep the body of a request may nest. It leaves room for more levels than a schema may have, so
// that the error names the schema's own limit.
const MaxBodyLevels = 96

// ParseBody reads the body of a request, which is one object. The error is a fault.RequestMalformed, the same for
// every body with the same mistake.
func ParseBody(text []byte) (*Node, error) {
	root, err := ParsePart(text, "")
	if err != nil {
		return nil, err
	}
	if root.Kind != Object {
		return nil, fault.Malformed(fault.Violation{Rule: "type", Message: "must be one object, found " + root.Kind.String()})
	}
	return root, nil
}

// ParsePart is ParseBody for a part of a request, which may be any value; at is its place in the request.
func ParsePart(text []byte, at string) (*Node, error) {
	root, err := ParseWithin(text, Limits{Depth: MaxBodyLevels, Bytes: len(text)})
	if err == nil {
		return root, nil
	}
	v := fault.Violation{Pointer: at, Rule: "json", Message: err.Error()}
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		v.Pointer += syntax.Pointer
	}
	return nil, fault.Malformed(v)
}
