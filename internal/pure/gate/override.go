package gate

import (
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
)

// Override is that a deployment went past rules which were not met.
type Override struct {
	// By is the name of who did it, and Reason why.
	By string `json:"by"`
	// ByID is the id of the token by which it was done, "" if none was noted.
	ByID   string    `json:"byId,omitempty"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	// Requirements are the messages of what was not met.
	Requirements []string `json:"requirements"`
}

// GoPast returns the override of all requirements that are not met, nil if all are met. It fails with
// RuleNotOverridable if one is of a rule that holds in any case.
func GoPast(list []Requirement, by *actor.Actor, reason string, at time.Time) (*Override, error) {
	unmet := Unmet(list)
	if len(unmet) == 0 {
		return nil, nil
	}
	o := &Override{By: by.Name, ByID: by.ID, At: at, Reason: reason}
	for _, r := range unmet {
		if !r.Rule.Overridable {
			f := fault.New(fault.RuleNotOverridable, "The rule %q cannot be gone past. %s", r.Rule.Name, r.Message)
			f.Metadata = map[string]any{"ruleId": r.Rule.ID}
			return nil, f
		}
		o.Requirements = append(o.Requirements, r.Message)
	}
	return o, nil
}
