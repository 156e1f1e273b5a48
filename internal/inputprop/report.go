package inputprop

import (
	"fmt"

	"slipway/internal/fault"
)

// maxViolations bounds an answer; the last violation then tells how many more there were.
const maxViolations = 100

// report collects what is wrong with an input. Its pointers start with root.
type report struct {
	root  string
	at    trail
	found []fault.Violation
	more  int
}

// fail notes a violation of the value at hand.
func (r *report) fail(rule, format string, args ...any) { r.failBelow("", rule, format, args...) }

// failBelow notes a violation of the place that the pointer leads to from the value at hand.
func (r *report) failBelow(pointer, rule, format string, args ...any) {
	if len(r.found) == maxViolations {
		r.more++
		return
	}
	r.found = append(r.found, fault.Violation{
		Pointer: r.pointer() + pointer,
		Rule:    rule,
		Message: fmt.Sprintf(format, args...),
	})
}

// hint suggests the name that was probably meant; it costs nothing once violations are only counted.
func (r *report) hint(found string, names []string) string {
	if len(r.found) == maxViolations {
		return ""
	}
	return hint(found, names)
}

// failMember notes a violation of a member of the value at hand.
func (r *report) failMember(key, rule, format string, args ...any) {
	r.at.member(key)
	r.fail(rule, format, args...)
	r.at.up()
}

// pointer is that of the value at hand.
func (r *report) pointer() string { return r.at.pointer(r.root) }

// inside is the place within what is judged, for messages: what is judged has other places on other
// surfaces.
func (r *report) inside() string { return r.at.pointer("") }

// violations are all that were found, nil when there are none.
func (r *report) violations() []fault.Violation {
	if r.more == 0 {
		return r.found
	}
	return append(r.found, fault.Violation{
		Pointer: r.root,
		Rule:    "more_violations",
		Message: fmt.Sprintf("has %d more violations than the %d listed", r.more, maxViolations),
	})
}
