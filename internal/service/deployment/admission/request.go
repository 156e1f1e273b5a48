package admission

import (
	"slipway/internal/base/fault"
	"slipway/internal/service/deployment/state"
)

// Request is what every request for a deployment has.
type Request struct {
	// ExpectedLiveID is the live deployment of the instance as the caller knows it; nil is not checked.
	ExpectedLiveID *string
	// Reason is why the caller wants it; nil for nothing.
	Reason *string
	// IdempotencyKey is the caller's name for the request, or nil.
	IdempotencyKey *string
	Control
}

// Check returns what is wrong with the texts. The key is checked if it is used.
func (r Request) Check() []fault.Violation {
	violations := append(state.CheckReason(r.Reason), r.Control.Check()...)
	if r.ExpectedLiveID != nil && *r.ExpectedLiveID == "" {
		violations = append(violations, fault.Violation{Pointer: "/expectedLiveDeploymentId", Rule: "min_length",
			Message: "must be the id of a deployment, found an empty text; leave it out if any may be live"})
	}
	return violations
}

// Planned returns the request as far as it decides what is made.
func (r Request) Planned() Request {
	r.Reason, r.Control = nil, Control{}
	return r
}
