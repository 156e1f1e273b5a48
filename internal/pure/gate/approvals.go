package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/actor"
	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
)

// The bounds of a demand for approvals.
const (
	MaxApprovals = 5
	maxHolders   = 20
)

// Approvals demands that others approve.
type Approvals struct {
	// Count is how many principals have to, 1 to 5, and Role which role each has at least: developer or admin.
	Count int32      `json:"count"`
	Role  actor.Role `json:"role"`
	// Holders are the holders of tokens who may approve; empty for anybody.
	Holders []string `json:"holders,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. Rules that were stored before holders had this name call them by.
func (a *Approvals) UnmarshalJSON(text []byte) error {
	type stored Approvals
	s := struct {
		*stored
		By []string `json:"by"`
	}{stored: (*stored)(a)}
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}

	if a.Holders == nil {
		a.Holders = s.By
	}
	return nil
}

// Approval is one that somebody has given.
type Approval struct {
	ID string
	// Holder is whose the token is, "" if nobody was named.
	Holder string
	Role   actor.Role
}

// Roles are those that the demand is met by.
func (a *Approvals) Roles() []actor.Role {
	if a.Role == actor.Admin {
		return []actor.Role{actor.Admin, actor.Superadmin}
	}
	return []actor.Role{actor.Developer, actor.Admin, actor.Superadmin}
}

// Takes reports whether an approval is one of those that are demanded.
func (a *Approvals) Takes(given Approval) bool {
	return slices.Contains(a.Roles(), given.Role) && (len(a.Holders) == 0 || slices.Contains(a.Holders, given.Holder))
}

// IsTaken reports whether one of some rules that bind an operation takes an approval.
func IsTaken(rules []Rule, op Operation, given Approval) bool {
	return slices.ContainsFunc(rules, func(r Rule) bool {
		demand, ok := r.Demand.Kind.(*Approvals)
		return ok && r.Binds(op) && demand.Takes(given)
	})
}

func (*Approvals) name() string            { return "approvals" }
func (*Approvals) operations() []Operation { return ordinary }
func (*Approvals) may() []Operation        { return Operations }

// restrict implements Kind: approvals may be given at any time.
func (*Approvals) restrict(*timetable, Requirement) (known bool) { return true }

func (a *Approvals) judge(r *Rule, f Facts, _ time.Time) Requirement {
	taken := []string{}
	for _, one := range f.Approvals {
		if a.Takes(one) {
			taken = append(taken, one.ID)
		}
	}
	given := min(int32(len(taken)), a.Count)
	verb := "are"
	if a.Count == 1 {
		verb = "is"
	}
	return Requirement{
		Rule: r, Met: given == a.Count, Needed: new(a.Count), Given: &given, ApprovalIDs: taken,
		Message: fmt.Sprintf("Rule %q: %d of %d approvals by %s %s given.", r.Name, given, a.Count, a.who(), verb),
	}
}

// who returns by whom, as a part of a sentence.
func (a *Approvals) who() string {
	who := "a developer or admin"
	if a.Role == actor.Admin {
		who = "an admin"
	}
	if len(a.Holders) > 0 {
		who += " among the holders " + strings.Join(a.Holders, ", ")
	}
	return who + " who is not the author"
}

func (a *Approvals) check(v *fault.Violations, at string) {
	if a.Count < 1 || a.Count > MaxApprovals {
		v.Add(at+"/count", "range", "must be between 1 and %d, found %d", MaxApprovals, a.Count)
	}
	if a.Role != actor.Developer && a.Role != actor.Admin {
		v.Add(at+"/role", "enum", "must be DEVELOPER or ADMIN, found %.40s", strings.ToUpper(string(a.Role)))
	}
	if len(a.Holders) > maxHolders {
		v.Add(at+"/holders", "max_items", "must name at most %d holders, found %d", maxHolders, len(a.Holders))
	}
	if n := len(a.Holders); n > 0 && n < int(a.Count) {
		v.Add(
			at+"/holders", "min_items", "must name at least as many holders as approvals are demanded, %d, found %d", a.Count, n,
		)
	}
	for i, holder := range a.Holders {
		v.Append(textrules.GivenID(fmt.Sprintf("%s/holders/%d", at, i), holder)...)
	}
	checkUnique(v, at+"/holders", a.Holders)
}
