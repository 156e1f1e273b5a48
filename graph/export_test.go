package graph

import "slipway/graph/model"

// Inputs are the functions that turn the schema's inputs into those of the services, by their names.
var Inputs = map[string]any{
	"newDefinition": newDefinition, "definitionPatch": definitionPatch, "newToken": newToken, "newModule": newModule,
	"modulePatch": modulePatch, "newVersion": newVersion, "validationRequest": validationRequest,
	"newDeployment": newDeployment, "report": report, "destroy": destroy, "completion": completion,
	"deploymentFilter": deploymentFilter, "auditFilter": auditFilter, "instanceFilter": inAnyOrder(instanceFilter),
	"runnerFilter": runnerFilter, "projectFilter": inAnyOrder(projectFilter), "environmentFilter": inAnyOrder(environmentFilter),
	"moduleFilter": inAnyOrder(moduleFilter), "definitionFilter": definitionFilter, "organizationFilter": organizationFilter,
	"tokenFilter": tokenFilter, "ruleFilter": ruleFilter,
	"projectPatch": projectPatch, "environmentPatch": environmentPatch, "instancePatch": instancePatch,
}

// inAnyOrder returns what makes the filter of a list in its usual order.
func inAnyOrder[I, F any](filter func(*I, model.ListOrder) F) func(*I) F {
	return func(in *I) F { return filter(in, model.ListOrderNewest) }
}
