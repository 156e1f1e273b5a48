package inputprop

import (
	"slipway/internal/fault"
	"slipway/internal/strictjson"
)

// ParseValues reads values, which are an object by the ids of their inputs. The violation's pointer is at.
func ParseValues(text []byte, at string) (*strictjson.Node, []fault.Violation) {
	n, err := strictjson.Parse(text)
	wrong := fault.Violation{Pointer: at, Rule: "type", Message: "must be an object of values by the ids of the inputs"}
	switch {
	case err != nil:
		wrong.Rule, wrong.Message = "json", wrong.Message+": "+err.Error()
	case n.Kind != strictjson.Object:
		wrong.Message += ", found " + string(strictjson.Show(n))
	default:
		return n, nil
	}
	return nil, []fault.Violation{wrong}
}
