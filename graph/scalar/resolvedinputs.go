package scalar

import (
	"encoding/json"

	"slipway/internal/base/fault"
	"slipway/internal/pure/inputvalues"
)

// ResolvedInputs is what a form shows for some values, and what cannot be made out of them.
type ResolvedInputs struct {
	*inputvalues.Resolved
	Violations []fault.Violation
}

// ValuesJSON are the values that count.
func (r *ResolvedInputs) ValuesJSON() json.RawMessage { return r.Values.JSON() }
