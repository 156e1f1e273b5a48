package view

import (
	"slices"
	"time"

	"slipway/ent/deployment"
	"slipway/internal/base/fault"
	"slipway/internal/base/textrules"
	"slipway/internal/data/record"
	"slipway/internal/pure/gate"
	"slipway/internal/service/deployment/state"
)

// Filter has conditions on deployments, and their order; nil ones do not count. A cursor is bound to its JSON: a member
// of which a cursor without it knows nothing is left out if it is not given.
type Filter struct {
	ModuleInstanceID *string
	EnvironmentID    *string
	ProjectID        *string
	// Statuses are those of which a deployment has one, as Operations. No deployment has one of an empty list.
	Statuses      []deployment.Status `json:"Status"`
	Kind          *string
	CreatedFrom   *time.Time
	CreatedBefore *time.Time

	ModuleDefinitionID *string          `json:",omitempty"`
	ModuleVersionID    *string          `json:",omitempty"`
	ReleaseID          *string          `json:",omitempty"`
	Operations         []gate.Operation `json:",omitzero"`
	// External has those kept that were started outside, or all others.
	External *bool `json:",omitempty"`
	// CreatedByID is the principal of the creator.
	CreatedByID   *string `json:",omitempty"`
	PipelineRunID *string `json:",omitempty"`
	// Search is a text that the description or the reason contains, in any case.
	Search *string `json:",omitempty"`
	// Overridden has those kept that went past rules, or those that did not.
	Overridden *bool `json:",omitempty"`
	// AwaitingMyApproval has those kept that wait for an approval which the actor could give. Only a list knows it.
	AwaitingMyApproval bool `json:",omitempty"`

	// LastCompleted has a list in the order in which deployments ended, the last first, without those that have not.
	LastCompleted bool `json:",omitempty"`
}

// comparisons returns the filter as what it means, for its list as for those who follow what is in it.
func (f Filter) comparisons() []record.Comparison {
	return append(f.indexed(), record.Given(containsFolded, deployment.FieldSearchText, f.Search)...)
}

// indexed returns the comparisons but for that of a search, for which there is no index.
func (f Filter) indexed() []record.Comparison {
	return slices.Concat(
		record.Given(record.Equal, deployment.FieldModuleInstanceID, f.ModuleInstanceID),
		record.Given(record.Equal, deployment.FieldEnvironmentID, f.EnvironmentID),
		record.Given(record.Equal, deployment.FieldProjectID, f.ProjectID),
		record.Given(record.Equal, deployment.FieldModuleDefinitionID, f.ModuleDefinitionID),
		record.Given(record.Equal, deployment.FieldModuleVersionID, f.ModuleVersionID),
		record.Given(record.Equal, deployment.FieldReleaseID, f.ReleaseID),
		record.Among(deployment.FieldStatus, f.Statuses),
		record.Given(record.Equal, deployment.FieldDeploymentType, f.Kind),
		record.Among(deployment.FieldTriggerSource, state.TriggersOf(f.Operations)),
		record.Given(startedOutside, deployment.FieldTriggerSource, f.External),
		record.Given(record.Equal, deployment.FieldCreatedByID, f.CreatedByID),
		record.Given(record.Equal, deployment.FieldPipelineRunID, f.PipelineRunID),
		record.Given(record.AtLeast, deployment.FieldCreatedAt, f.CreatedFrom),
		record.Given(record.Below, deployment.FieldCreatedAt, f.CreatedBefore),
		record.Given(record.Set, deployment.FieldOverride, f.Overridden),
	)
}

// startedOutside returns the condition that a deployment was started outside, or that it was not.
func startedOutside(column string, is any) record.Comparison {
	if is == true {
		return record.Equal(column, state.TriggerEvent)
	}
	return record.Other(column, state.TriggerEvent)
}

// containsFolded returns the condition that a folded column contains a text in any case.
func containsFolded(column string, text any) record.Comparison {
	part, _ := text.(string)
	return record.Contains(column, textrules.Fold(part))
}

// inOrder returns the deployments of a list that meet the filter, but for what it searches for, in its order. Those
// that ended last are merged of the statuses that these may have, which stand in the index before the time.
func (f Filter) inOrder(list record.Query[record.Deployment]) record.Query[record.Deployment] {
	if !f.LastCompleted {
		return list.Where(record.All(f.indexed())...)
	}
	given := f.Statuses
	f.Statuses = []deployment.Status{deployment.StatusSUCCEEDED, deployment.StatusFAILED, deployment.StatusCANCELED}
	if given != nil {
		f.Statuses = slices.DeleteFunc(f.Statuses, func(s deployment.Status) bool { return !slices.Contains(given, s) })
	}
	return list.Where(record.All(f.indexed())...).LastBy(deployment.FieldCompletedAt)
}

// lasting returns the conditions on what never changes of a deployment.
func (f Filter) lasting() Filter {
	f.Statuses, f.Overridden, f.PipelineRunID = nil, nil, nil
	return f
}

// check returns what is wrong with a filter of a list. parent is the column of the record that has the list, "" for
// none.
func (f Filter) check(parent string) error {
	if f.Search != nil {
		if err := textrules.CheckSearch(*f.Search); err != nil {
			return err
		}
	}

	inPlace := f.EnvironmentID != nil || f.ModuleInstanceID != nil ||
		parent == deployment.FieldEnvironmentID || parent == deployment.FieldModuleInstanceID
	if f.LastCompleted && !inPlace {
		return fault.New(fault.RequestInvalid, "orderBy is LAST_COMPLETED, which is for the deployments of one environment "+
			"or one module instance. Give filter.environmentId or filter.moduleInstanceId, or order by NEWEST.")
	}
	return nil
}
