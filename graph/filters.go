package graph

import (
	"slipway/graph/model"
	"slipway/internal/service/account"
	"slipway/internal/service/catalog"
	"slipway/internal/service/defaults"
	"slipway/internal/service/deployment/runners"
	"slipway/internal/service/deployment/view"
	"slipway/internal/service/rule"
	"slipway/internal/service/workspace"
)

// isByName reports whether a list is in the order of names.
func isByName(order model.ListOrder) bool { return order == model.ListOrderName }

func organizationFilter(in *model.OrganizationFilter) (f account.OrganizationFilter) {
	if in != nil {
		f.Search = in.Search.Value()
	}
	return f
}

func tokenFilter(in *model.TokenFilter) account.TokenFilter {
	if in == nil {
		return account.TokenFilter{}
	}
	return account.TokenFilter{
		Role: in.Role.Value(), Holder: in.Holder.Value(), Active: in.Active.Value(), Search: in.Search.Value(),
	}
}

func ruleFilter(in *model.RuleFilter) rule.Filter {
	if in == nil {
		return rule.Filter{}
	}
	return rule.Filter{
		Ended: isTrue(in.Ended), ProjectID: in.ProjectID.Value(), EnvironmentID: in.EnvironmentID.Value(),
	}
}

func projectFilter(in *model.ProjectFilter, order model.ListOrder) workspace.ProjectFilter {
	f := workspace.ProjectFilter{ByName: isByName(order)}
	if in != nil {
		f.Archived, f.Search = isTrue(in.Archived), in.Search.Value()
	}
	return f
}

func environmentFilter(in *model.EnvironmentFilter, order model.ListOrder) workspace.EnvironmentFilter {
	f := workspace.EnvironmentFilter{ByName: isByName(order)}
	if in != nil {
		f.ProjectID, f.Archived, f.Search = in.ProjectID.Value(), isTrue(in.Archived), in.Search.Value()
	}
	return f
}

func moduleFilter(in *model.ModuleDefinitionFilter, order model.ListOrder) catalog.DefinitionFilter {
	f := catalog.DefinitionFilter{ByName: isByName(order)}
	if in != nil {
		f.Status, f.Type, f.Search = in.Status.Value(), in.Type.Value(), in.Search.Value()
	}
	return f
}

func definitionFilter(in *model.DefaultValueDefinitionFilter) (f defaults.Filter) {
	if in != nil {
		f.GivenID, f.Search = in.GivenID.Value(), in.Search.Value()
	}
	return f
}

func instanceFilter(in *model.ModuleInstanceFilter, order model.ListOrder) catalog.InstanceFilter {
	f := catalog.InstanceFilter{ByName: isByName(order)}
	if in == nil {
		return f
	}
	f.ProjectID, f.EnvironmentID = in.ProjectID.Value(), in.EnvironmentID.Value()
	f.ModuleDefinitionID, f.LiveModuleVersionID = in.ModuleDefinitionID.Value(), in.LiveModuleVersionID.Value()
	f.Drift, f.Archived, f.Search = in.Drift.Value(), isTrue(in.Archived), in.Search.Value()
	return f
}

// deploymentList returns the filter of a list of deployments, with its order.
func deploymentList(in *model.DeploymentFilter, order model.DeploymentOrder) view.Filter {
	f := deploymentFilter(in)
	f.LastCompleted = order == model.DeploymentOrderLastCompleted
	return f
}

func deploymentFilter(in *model.DeploymentFilter) (f view.Filter) {
	if in == nil {
		return f
	}
	f.ModuleInstanceID, f.EnvironmentID = in.ModuleInstanceID.Value(), in.EnvironmentID.Value()
	f.ProjectID, f.ModuleDefinitionID = in.ProjectID.Value(), in.ModuleDefinitionID.Value()
	f.ModuleVersionID, f.ReleaseID = in.ModuleVersionID.Value(), in.ReleaseID.Value()
	f.Statuses, f.Operations, f.External = in.Statuses.Value(), in.Operations.Value(), in.External.Value()
	f.Kind, f.CreatedByID = in.DeploymentType.Value(), in.CreatedByPrincipalID.Value()
	f.PipelineRunID, f.Search = in.PipelineRunID.Value(), in.Search.Value()
	f.CreatedFrom, f.CreatedBefore = in.CreatedFrom.Value(), in.CreatedBefore.Value()
	f.Overridden, f.AwaitingMyApproval = in.Overridden.Value(), isTrue(in.AwaitingMyApproval)
	return f
}

func runnerFilter(in *model.RunnerFilter) runners.Filter {
	if in == nil {
		return runners.Filter{}
	}
	return runners.Filter{
		DeploymentType: in.DeploymentType.Value(), Action: in.Action.Value(), EnvironmentID: in.EnvironmentID.Value(),
	}
}

func auditFilter(in *model.AuditEventFilter) account.AuditFilter {
	if in == nil {
		return account.AuditFilter{}
	}
	return account.AuditFilter{
		ActorID: in.TokenID.Value(), Action: in.Action.Value(), ObjectID: in.ObjectID.Value(),
		CreatedFrom: in.CreatedFrom.Value(), CreatedBefore: in.CreatedBefore.Value(),
	}
}
