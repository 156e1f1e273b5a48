package inputprop

import "slipway/internal/fault"

// report collects what is wrong with an input. Its pointers start with root.
type report struct {
	root string
	at   trail
	// names are those that the value at hand has besides the ones on its trail.
	names []string
	found fault.Violations
}

// fail notes a violation of the value at hand.
func (r *report) fail(rule, format string, args ...any) { r.failBelow("", rule, format, args...) }

// failBelow notes a violation of the place that the pointer leads to from the value at hand.
func (r *report) failBelow(pointer, rule, format string, args ...any) {
	place := ""
	if !r.found.IsFull() {
		place = r.pointer() + pointer
		r.conceal(args)
	}
	r.found.Add(place, rule, format, args...)
}

// hint suggests the name that was probably meant; it costs nothing once violations are only counted.
func (r *report) hint(found string, names []string) string {
	if r.found.IsFull() {
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
func (r *report) violations() []fault.Violation { return r.found.All(r.root) }
