// Package gate judges deployments by the rules of the place that they are made in. A rule is for some operations and has one
// demand: approvals by others, hours of the week, no freeze, or that what is deployed was live elsewhere before. Judge alone
// decides, by facts and a time that it is given: so a plan, a creation, a start and the buttons that offer them agree.
package gate

import (
	"fmt"
	"slices"
	"strings"

	"slipway/internal/fault"
)

// Operation is what a deployment does, as far as rules tell one from another.
type Operation string

// The operations.
const (
	Create   Operation = "CREATE"
	Promote  Operation = "PROMOTE"
	Redeploy Operation = "REDEPLOY"
	Rollback Operation = "ROLLBACK"
	Destroy  Operation = "DESTROY"
)

// Operations are all of them.
var Operations = []Operation{Create, Promote, Redeploy, Rollback, Destroy}

// Rule is a rule that is in force where something is to be deployed.
type Rule struct {
	ID          string      `json:"id"`
	Version     int32       `json:"version"`
	Name        string      `json:"name"`
	Operations  []Operation `json:"operations"`
	Demand      Demand      `json:"demand"`
	Overridable bool        `json:"overridable"`
}

// Binds reports whether the rule is for an operation.
func (r *Rule) Binds(op Operation) bool { return slices.Contains(r.Operations, op) }

// Demand is what a rule demands: one of its members is there.
type Demand struct {
	Approvals *Approvals `json:"approvals,omitempty"`
	Hours     *Hours     `json:"hours,omitempty"`
	Freeze    *Freeze    `json:"freeze,omitempty"`
	LiveIn    *LiveIn    `json:"liveIn,omitempty"`
}

// DefaultOperations returns what a rule with the demand is for where nothing is said.
func (d Demand) DefaultOperations() []Operation {
	if d.LiveIn != nil {
		return []Operation{Create, Promote, Redeploy}
	}
	return []Operation{Create, Promote, Redeploy, Destroy}
}

// Check returns what is wrong with the demand of a rule that is for some operations, at /demand and /operations.
func (d Demand) Check(operations []Operation) []fault.Violation {
	var v fault.Violations
	d.checkOperations(&v, operations)
	given := 0
	if d.Approvals != nil {
		given++
		d.Approvals.check(&v, "/demand/approvals")
	}
	if d.Hours != nil {
		given++
		d.Hours.check(&v, "/demand/hours")
	}
	if d.Freeze != nil {
		given++
		d.Freeze.check(&v, "/demand/freeze")
	}
	if d.LiveIn != nil {
		given++
		d.LiveIn.check(&v, "/demand/liveIn")
	}
	if given != 1 {
		v.Add("/demand", "one_of", "must have exactly one of approvals, hours, freeze and liveIn, found %d", given)
	}
	return v.All("")
}

func (d Demand) checkOperations(v *fault.Violations, operations []Operation) {
	if len(operations) == 0 {
		v.Add("/operations", "min_items", "must name at least 1 operation, found none; leave it out for %s", list(d.DefaultOperations()))
	}
	for i, op := range operations {
		at := fmt.Sprintf("/operations/%d", i)
		switch {
		case !slices.Contains(Operations, op):
			v.Add(at, "enum", "must be one of %s, found %.60q", list(Operations), string(op))
		case slices.Contains(operations[:i], op):
			v.Add(at, "unique", "must be named once, found %s again", op)
		case d.LiveIn != nil && (op == Rollback || op == Destroy):
			v.Add(at, "operation", "must be one of %s for liveIn, found %s, of which nothing new comes", list(d.DefaultOperations()), op)
		}
	}
}

func list[T ~string](items []T) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = string(item)
	}
	return strings.Join(texts, ", ")
}

// checkUnique adds a violation for each text that a list has had before.
func checkUnique[T ~string](v *fault.Violations, at string, items []T) {
	for i, item := range items {
		if slices.Contains(items[:i], item) {
			v.Add(fmt.Sprintf("%s/%d", at, i), "unique", "must be named once, found %.80q again", string(item))
		}
	}
}
