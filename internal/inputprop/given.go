package inputprop

import (
	"slipway/internal/fault"
	"slipway/internal/strictjson"
)

// CheckValues returns what is wrong with values as a whole, which are an object by the ids of their inputs; nil is
// nothing given. The violation's pointer is at.
func CheckValues(n *strictjson.Node, at string) []fault.Violation {
	if n != nil && n.Kind == strictjson.Object {
		return nil
	}
	found := strictjson.Shown("nothing")
	if n != nil {
		found = strictjson.Show(n)
	}
	return []fault.Violation{{Pointer: at, Rule: "type", Message: "must be an object of values by the ids of the inputs, found " + string(found)}}
}
