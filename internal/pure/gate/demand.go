package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/fault"
)

// Demand is what a rule demands. It is stored as an object whose one member is the kind, by its name.
type Demand struct{ Kind Kind }

// Kind is what is demanded: a closed union. The methods of each kind stand in the file with its name; kinds has an
// empty one of each.
//
//sumtype:decl
type Kind interface {
	// name is that of its member, in the database and in the API.
	name() string
	// operations are those that a rule is for if it names none, and may all that it may name.
	operations() []Operation
	may() []Operation
	// check adds what is wrong with it.
	check(v *fault.Violations, at string)
	// judge returns what a rule that demands it comes to by some facts at a time.
	judge(r *Rule, f Facts, at time.Time) Requirement
	// restrict adds to a timetable what it leaves open, by what it came to, and reports whether that is known.
	restrict(t *timetable, q Requirement) (known bool)
}

// kinds makes an empty one of each.
var kinds = []func() Kind{
	func() Kind { return &Approvals{} },
	func() Kind { return &Hours{} },
	func() Kind { return &Freeze{} },
	func() Kind { return &LiveIn{} },
}

// Names returns the names of all kinds.
func Names() []string {
	all := make([]string, len(kinds))
	for i, empty := range kinds {
		all[i] = empty().name()
	}
	return all
}

// ordinary are the operations of most kinds.
var ordinary = []Operation{Create, Promote, Redeploy, Destroy}

// MarshalJSON implements json.Marshaler.
func (d Demand) MarshalJSON() ([]byte, error) {
	if d.Kind == nil {
		return []byte("{}"), nil
	}
	if u, ok := d.Kind.(*unknown); ok {
		return json.Marshal(map[string]json.RawMessage{u.member: u.value})
	}
	return json.Marshal(map[string]Kind{d.Kind.name(): d.Kind})
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Demand) UnmarshalJSON(text []byte) error {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	if len(members) > 1 {
		return fmt.Errorf("gate: a demand has %d members", len(members))
	}

	d.Kind = nil
	for name, value := range members {
		for _, empty := range kinds {
			if k := empty(); k.name() == name {
				d.Kind = k
				return json.Unmarshal(value, k)
			}
		}
		d.Kind = &unknown{name, bytes.Clone(value)}
	}
	return nil
}

// DefaultOperations returns what a rule with the demand is for if it names none.
func (d Demand) DefaultOperations() []Operation {
	if d.Kind == nil {
		return ordinary
	}
	return d.Kind.operations()
}

// Unknown returns the name of a demand that only a newer program knows, "" for any other.
func (d Demand) Unknown() string {
	if u, ok := d.Kind.(*unknown); ok {
		return u.member
	}
	return ""
}

// Check returns what is wrong with the demand of a rule that is for some operations, at /demand and /operations.
func (d Demand) Check(operations []Operation) []fault.Violation {
	var v fault.Violations
	d.checkOperations(&v, operations)
	if d.Kind == nil {
		v.Add("/demand", "one_of", "must have exactly one of %s, found none", strings.Join(Names(), ", "))
	} else {
		d.Kind.check(&v, "/demand/"+d.Kind.name())
	}
	return v.All("")
}

func (d Demand) checkOperations(v *fault.Violations, operations []Operation) {
	if len(operations) == 0 {
		v.Add("/operations", "min_items",
			"must name at least 1 operation, found none; leave it out for %s", list(d.DefaultOperations()))
	}
	for i, op := range operations {
		at := fmt.Sprintf("/operations/%d", i)
		switch {
		case !slices.Contains(Operations, op):
			v.Add(at, "enum", "must be one of %s, found %.60q", list(Operations), string(op))
		case slices.Contains(operations[:i], op):
			v.Add(at, "unique", "must be named once, found %s again", op)
		case d.Kind != nil && !slices.Contains(d.Kind.may(), op):
			v.Add(at, "operation", "must be one of %s for %s, found %s, of which nothing new comes",
				list(d.Kind.may()), d.Kind.name(), op)
		}
	}
}

// unknown is a demand that a newer program has stored. It is never met.
type unknown struct {
	member string
	value  json.RawMessage
}

func (u *unknown) name() string                                { return u.member }
func (*unknown) operations() []Operation                       { return ordinary }
func (*unknown) may() []Operation                              { return Operations }
func (*unknown) restrict(*timetable, Requirement) (known bool) { return false }

func (u *unknown) check(v *fault.Violations, at string) {
	v.Add(at, "unknown",
		"must be one of %s, found %.60q, which only a newer server knows; give another demand, or ask that server",
		strings.Join(Names(), ", "), u.member)
}

func (u *unknown) judge(r *Rule, _ Facts, _ time.Time) Requirement {
	return Requirement{
		Rule: r, Message: fmt.Sprintf("Rule %q: this server does not know its demand, %s.", r.Name, u.member),
	}
}
