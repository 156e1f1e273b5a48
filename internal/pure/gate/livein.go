package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/fault"
)

// The bounds of a demand for what was live elsewhere.
const (
	maxEnvironments = 5
	maxMinutes      = 30 * 24 * 60
)

// LiveIn demands that what is promoted was live in another environment before.
type LiveIn struct {
	// EnvironmentIDs are those of which it has to be one.
	EnvironmentIDs []string `json:"environmentIds"`
	// Minutes is for how long at least.
	Minutes int32 `json:"minutes"`
}

// Stay is where something was live, and when.
type Stay struct {
	EnvironmentID string
	From          time.Time
	// Until is when the next of its instance succeeded, or something from outside took its place; nil while it is live.
	Until *time.Time
	// TakenBack is whether the cloud has taken it back, so that it counts for nothing.
	TakenBack bool
}

func (*LiveIn) name() string            { return "liveIn" }
func (*LiveIn) operations() []Operation { return []Operation{Create, Promote, Redeploy} }
func (l *LiveIn) may() []Operation      { return l.operations() }

// restrict implements Kind: how long something was live is no matter of the hour.
func (*LiveIn) restrict(*timetable, Requirement) (known bool) { return true }

// judge judges a promotion by where its source was live. It judges a replay by what it was promoted from, or, if it
// succeeded here before, by that.
func (l *LiveIn) judge(r *Rule, f Facts, at time.Time) Requirement {
	if f.Operation == Redeploy && f.SucceededHere {
		return Requirement{Rule: r, Met: true, Message: fmt.Sprintf("Rule %q: it has succeeded here before.", r.Name)}
	}

	where := fmt.Sprintf("%s for %d minutes", strings.Join(l.EnvironmentIDs, " or "), l.Minutes)
	if f.Stay == nil || !slices.Contains(l.EnvironmentIDs, f.Stay.EnvironmentID) {
		return Requirement{Rule: r, Message: fmt.Sprintf("Rule %q: it has to be promoted from %s.", r.Name, where)}
	}
	if f.Stay.TakenBack {
		return Requirement{Rule: r, Message: fmt.Sprintf(
			"Rule %q: the cloud has taken back what was live in %s.", r.Name, f.Stay.EnvironmentID)}
	}

	until, enough := at, f.Stay.From.Add(time.Duration(l.Minutes)*time.Minute)
	if f.Stay.Until != nil {
		until = *f.Stay.Until
	}
	if !until.Before(enough) {
		return Requirement{
			Rule: r, Met: true,
			Message: fmt.Sprintf("Rule %q: it was live in %s.", r.Name, f.Stay.EnvironmentID),
		}
	}

	missing := Requirement{Rule: r, Message: fmt.Sprintf(
		"Rule %q: it has to have been live in %s, and was so for %d.", r.Name, where,
		max(0, until.Sub(f.Stay.From))/time.Minute)}
	if f.Stay.Until == nil {
		missing.At = &enough
	}
	return missing
}

func (l *LiveIn) check(v *fault.Violations, at string) {
	if n := len(l.EnvironmentIDs); n < 1 || n > maxEnvironments {
		v.Add(at+"/environmentIds", "items", "must name 1 to %d environments, found %d", maxEnvironments, n)
	}
	checkUnique(v, at+"/environmentIds", l.EnvironmentIDs)
	if l.Minutes < 0 || l.Minutes > maxMinutes {
		v.Add(at+"/minutes", "range", "must be between 0 and %d, found %d", maxMinutes, l.Minutes)
	}
}
