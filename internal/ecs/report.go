package ecs

import (
	"fmt"

	"slipway/internal/fault"
)

// maxViolations keeps a refusal small, however large what was refused.
const maxViolations = 100

// report collects violations.
type report struct {
	found []fault.Violation
	more  int
}

func (r *report) add(v fault.Violation) {
	if len(r.found) == maxViolations {
		r.more++
		return
	}
	r.found = append(r.found, v)
}

// violations are all that were found and, where that is not all, how many more there were.
func (r *report) violations() []fault.Violation {
	if r.more == 0 {
		return r.found
	}
	return append(r.found, fault.Violation{
		Rule:    "more_violations",
		Message: fmt.Sprintf("has %d more violations than the %d listed", r.more, maxViolations),
	})
}
