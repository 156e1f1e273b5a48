package release

import (
	"fmt"
	"strings"

	"slipway/internal/fault"
)

// The bounds of a report keep a refusal small, however large what was refused.
const (
	maxViolations = 100
	maxTokenRunes = 100
)

// report collects violations. It knows the place of the reading as a trail of names, which becomes a
// JSON Pointer only when something is wrong there.
type report struct {
	trail []string
	found []fault.Violation
	more  int
}

func (r *report) enter(token string) { r.trail = append(r.trail, token) }

func (r *report) leave() { r.trail = r.trail[:len(r.trail)-1] }

func (r *report) refuse(rule, format string, args ...any) {
	if len(r.found) == maxViolations {
		r.more++
		return
	}
	var pointer strings.Builder
	for _, token := range r.trail {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
		fmt.Fprintf(&pointer, "/%.*s", maxTokenRunes, token)
	}
	r.found = append(r.found, fault.Violation{Pointer: pointer.String(), Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// err gives nil when nothing was found.
func (r *report) err() error {
	if len(r.found) == 0 {
		return nil
	}
	if r.more > 0 {
		r.found = append(r.found, fault.Violation{
			Rule:    "more_violations",
			Message: fmt.Sprintf("has %d more violations than the %d listed", r.more, maxViolations),
		})
	}
	return fault.Invalid(fault.RequestInvalid, r.found...)
}
