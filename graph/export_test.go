package graph

// Inputs are the functions that turn the schema's inputs into those of the services, by their names.
var Inputs = map[string]any{
	"newDefinition": newDefinition, "definitionPatch": definitionPatch, "newToken": newToken, "newModule": newModule,
	"modulePatch": modulePatch, "newVersion": newVersion, "validationRequest": validationRequest,
	"newDeployment": newDeployment, "report": report, "destroy": destroy, "completion": completion,
	"deploymentFilter": deploymentFilter, "auditFilter": auditFilter, "instanceFilter": instanceFilter,
	"runnerFilter": runnerFilter,
	"projectPatch": projectPatch, "environmentPatch": environmentPatch, "instancePatch": instancePatch,
}
