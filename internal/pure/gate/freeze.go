package gate

import (
	"fmt"
	"time"

	"slipway/internal/base/fault"
)

// Freeze demands that nothing is deployed from one moment until another.
type Freeze struct {
	// From is the first moment, and Until the first after it; nil is without an end.
	From  time.Time  `json:"from"`
	Until *time.Time `json:"until,omitempty"`
}

// opens returns the first moment, not before one, that is not frozen; nil if there is none.
func (f *Freeze) opens(at time.Time) *time.Time {
	if at.Before(f.From) || f.Until != nil && !at.Before(*f.Until) {
		return &at
	}
	return f.Until
}

func (*Freeze) name() string            { return "freeze" }
func (*Freeze) operations() []Operation { return ordinary }
func (*Freeze) may() []Operation        { return Operations }

func (f *Freeze) restrict(t *timetable, _ Requirement) (known bool) {
	t.frozen = append(t.frozen, f)
	return true
}

func (f *Freeze) judge(r *Rule, _ Facts, at time.Time) Requirement {
	opens := f.opens(at)
	if opens != nil && opens.Equal(at) {
		return Requirement{Rule: r, Met: true, Message: fmt.Sprintf("Rule %q: nothing is frozen.", r.Name)}
	}
	until := "without an end"
	if opens != nil {
		until = "until " + opens.UTC().Format(time.RFC3339)
	}
	return Requirement{Rule: r, At: opens, Message: fmt.Sprintf("Rule %q: frozen %s.", r.Name, until)}
}

func (f *Freeze) check(v *fault.Violations, at string) {
	if f.Until != nil && !f.Until.After(f.From) {
		v.Add(at+"/until", "after", "must be after from, %s, found %s",
			f.From.UTC().Format(time.RFC3339Nano), f.Until.UTC().Format(time.RFC3339Nano))
	}
}
