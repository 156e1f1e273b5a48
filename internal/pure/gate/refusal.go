package gate

import (
	"time"

	"slipway/internal/base/fault"
)

// AtCreation returns what requirements come to when a deployment is made: whether it waits for approvals, or why it is
// refused. What was not live elsewhere is refused; else what lacks approvals waits, whatever the hour.
func AtCreation(all []Requirement, at time.Time) (waits bool, refusal error) {
	unmet := Unmet(all)
	if f := notPromoted(unmet); f != nil {
		return false, f
	}
	if len(ofApprovals(unmet)) > 0 {
		return true, nil
	}
	return false, closed(all, unmet, at)
}

// AtStart returns why a deployment that has waited cannot be started, nil if it can: all has to be met.
func AtStart(all []Requirement, at time.Time) error {
	unmet := Unmet(all)
	if f := notPromoted(unmet); f != nil {
		return f
	}
	if missing := ofApprovals(unmet); len(missing) > 0 {
		f := explained(fault.DeploymentApprovalsMissing, missing)
		var rules []map[string]any
		for _, r := range named(missing) {
			rules = append(rules, map[string]any{"ruleId": r.Rule.ID, "needed": r.Needed, "given": r.Given})
		}
		f.Metadata = map[string]any{"missing": rules}
		return f
	}
	return closed(all, unmet, at)
}

func ofApprovals(unmet []Requirement) (list []Requirement) {
	for _, r := range unmet {
		if _, ok := r.Rule.Demand.Kind.(*Approvals); ok {
			list = append(list, r)
		}
	}
	return list
}

// notPromoted returns the refusal of what was not live elsewhere, nil for none.
func notPromoted(unmet []Requirement) error {
	var missing []Requirement
	var ids []string
	for _, r := range unmet {
		demand, ok := r.Rule.Demand.Kind.(*LiveIn)
		if !ok {
			continue
		}
		if missing = append(missing, r); len(missing) <= MaxNamed {
			ids = append(ids, demand.EnvironmentIDs...)
		}
	}
	if len(missing) == 0 {
		return nil
	}

	f := explained(fault.DeploymentNotPromoted, missing)
	f.Metadata = map[string]any{"environmentIds": ids}
	latest := missing[0].At
	for _, r := range missing {
		if r.At == nil {
			return f
		}
		if r.At.After(*latest) {
			latest = r.At
		}
	}
	f.Metadata["at"] = latest.UTC().Format(time.RFC3339Nano)
	return f
}

// closed returns the refusal of what is not met for the time, nil for nothing.
func closed(all, unmet []Requirement, at time.Time) error {
	if len(unmet) == 0 {
		return nil
	}
	f := explained(fault.EnvironmentClosed, unmet)
	var ids []string
	for _, r := range named(unmet) {
		ids = append(ids, r.Rule.ID)
	}
	f.Metadata = map[string]any{"ruleIds": ids}
	if opens := Opens(all, at); opens != nil {
		f.Metadata["opensAt"] = opens.UTC().Format(time.RFC3339Nano)
	}
	return f
}

// named returns the requirements that an error names.
func named(unmet []Requirement) []Requirement { return unmet[:min(len(unmet), MaxNamed)] }

// explained returns an error that says what is not met.
func explained(code fault.Code, unmet []Requirement) *fault.Error {
	f := fault.New(code, "%s", Summary(unmet))
	f.Details = []fault.Section{{Title: "What is not met", Render: fault.RenderList, Items: messages(unmet)}}
	return f
}
