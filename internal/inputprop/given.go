package inputprop

import "slipway/internal/fault"

// ParseValues reads values, which are an object by the ids of their inputs. The violation's pointer is at.
func ParseValues(text []byte, at string) (*Node, []fault.Violation) {
	n, err := Parse(text)
	wrong := fault.Violation{Pointer: at, Rule: "type", Message: "must be an object of values by the ids of the inputs"}
	switch {
	case err != nil:
		wrong.Rule, wrong.Message = "json", wrong.Message+": "+err.Error()
	case n.Kind != Object:
		wrong.Message += ", found " + string(n.found())
	default:
		return n, nil
	}
	return nil, []fault.Violation{wrong}
}
