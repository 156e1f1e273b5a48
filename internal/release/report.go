package release

import (
	"fmt"
	"slices"
	"strings"

	"slipway/internal/fault"
	"slipway/internal/secret"
)

// maxTokenRunes keeps the pointers of a report short, however long the names that they go through.
const maxTokenRunes = 100

// report collects violations. It knows the place of the reading as a trail of names, which becomes a
// JSON Pointer only when something is wrong there.
type report struct {
	trail []string
	found fault.Violations
}

func (r *report) enter(token string) { r.trail = append(r.trail, token) }

func (r *report) leave() { r.trail = r.trail[:len(r.trail)-1] }

func (r *report) refuse(rule, format string, args ...any) {
	var pointer strings.Builder
	for _, token := range r.trail {
		if !r.found.IsFull() {
			token = strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
			fmt.Fprintf(&pointer, "/%.*s", maxTokenRunes, token)
		}
	}
	r.found.Add(pointer.String(), rule, format, args...)
}

// shown returns a value as a message repeats it, unless it has a secret's name.
func (r *report) shown(value string) string {
	last := len(r.trail) - 1
	if slices.ContainsFunc(r.trail, secret.IsGroup) || last >= 0 && secret.IsName(r.trail[last]) {
		return "a value that looks like a secret"
	}
	return fmt.Sprintf("%.40s", value)
}

// err gives nil when nothing was found.
func (r *report) err() error {
	if r.found.Count() == 0 {
		return nil
	}
	return fault.Invalid(fault.RequestInvalid, r.found.All("")...)
}
