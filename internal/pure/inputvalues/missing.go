package inputvalues

import (
	"slipway/internal/base/fault"
	"slipway/internal/base/meter"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/inputprop"
)

// MissingOutput is the error of Env.Ref where what is live at a chosen instance has not reported an output.
type MissingOutput struct {
	// Why completes a sentence after "the chosen instance, ".
	Why string
}

// Error implements error.
func (m *MissingOutput) Error() string { return "inputvalues: of the chosen instance, " + m.Why }

// RuleOutputMissing is the rule of a mapped input that has no value because of a MissingOutput: a violation if it is
// required, else a warning.
const RuleOutputMissing = "output_missing"

// miss notes that the output is missing that a field is mapped from. One that is not required is left out.
func (r *resolver) miss(fl *field, m *MissingOutput) {
	if !fl.in.Traits.Required {
		fl.missing = m
		return
	}
	r.Fail(RuleOutputMissing, "must have a value from the chosen instance, %s", m.Why)
	fl.unknown = true
}

// warn adds a warning if a field is left out because an output is missing; path leads to the field. It lists at most as
// many as there may be violations.
func (r *resolver) warn(list *[]inputprop.Warning, path *strictjson.Path, fl *field) {
	if fl.missing == nil || fl.value != nil || len(*list) == fault.MaxViolations || r.err != nil {
		return
	}
	w := inputprop.Warning{Pointer: path.Pointer(""), Rule: RuleOutputMissing,
		Message: "is left out, for it has no value from the chosen instance, " + fl.missing.Why}
	r.err = meter.Answer(r.ctx, meter.Made, len(w.Pointer)+len(w.Message))
	*list = append(*list, w)
}
