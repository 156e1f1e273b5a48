// Package gate judges deployments by the rules of the place that they are made in. A rule is for some operations and
// has one demand: approvals by others, hours of the week, no freeze, or that what is deployed was live elsewhere
// before. Judge alone decides, by facts and a time that it is given: so a plan, a creation, a start and the buttons
// that offer them agree.
package gate

import (
	"fmt"
	"slices"
	"strings"

	"slipway/internal/base/fault"
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
