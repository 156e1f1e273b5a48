package attacktest_test

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// arguments returns those of a field, as large as the interface takes them, "" for none. §, which the attack replaces by its
// round, makes what has to be new differ.
func arguments(f attackable) string {
	var all []string
	for _, a := range f.field.Arguments {
		if value := argument(f.field.Name, f.field.Name, a.Name, a.Type); value != "" {
			all = append(all, a.Name+": "+value)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// given are the values of arguments and members by the field, with its names, or by their names alone; "" for none.
var given = map[string]string{
	// Whatever has one of them is in some state before, or two of them exclude one another.
	"after": "", "last": "", "before": "", "path": "", "expectedPlan": "", "expectedLiveDeploymentId": "",
	"idempotencyKey": "", "overrideReason": "", "wait": "", "defaultValueDefinitionId": "", "inputsFromDeploymentId": "",
	"withoutInputs": "", "ended": "", "archived": "", "givenId": `"given-§"`, "artifact": "", "data": "",
	"resourceArn": "", "filter": "", "completedAt": "", "expiresAt": "", "until": "", "successorId": "",
	"sourceUrl": "", "sourceRef": "", "scope": "", "holder": "", "currentStep": "1",
	"totalSteps": "1", "hookId": "", "holders": "", "canceled": "", "expectedVersion": "", "status": "ACTIVE",
	"createdFrom": "", "externalDeploymentId": "", "pipelineRunId": "", "stepExecutionId": "", "force": "",
	"sequence": "", "error": "", "orderBy": "",

	"from": `"2026-01-01T00:00:00Z"`, "by": "WEEK",
	"first": "100", "search": `"zzz"`, "id": "$former", "ids": "$ids", "fromId": "$former", "toId": "$live",
	"source": `"projects"`, "params": "{}", "projectId": "$project", "environmentId": "$bound",
	"moduleInstanceId": "$instance", "moduleDefinitionId": "$module", "moduleVersionId": "$version",
	"values": "{t: \"x\"}", "inputs": `{t: "x"}`, "outputs": "", "leaseId": `"no-such-lease"`,
	"deploymentTypes": `["aws:ecs"]`, "actions": "", "slug": `"g-§"`, "reason": "$text500",
	"description": "$text10000", "message": "$text1000", "text": "$text4000", "name": "$text200",
	"timeZone": `"Europe/Berlin"`, "stream": "STDOUT", "role": "VIEWER",
	"serviceArn": `"arn:aws:ecs:eu-central-1:123456789012:service/c/s"`, "operation": "ROLLBACK",
	"type": `"type-§"`, "dryRun": "true", "acknowledgeLive": "true", "acknowledgeDependents": "true",

	"moduleDefinition.id": "$module", "moduleDefinition.type": "", "moduleVersion.id": "$wide",
	"defaultValueDefinition.id": "$definition", "release.id": `"rel_01h455vb4pex5vsknk084sn02q"`,
	"moduleInstance.id": "$instance", "project.id": "$project", "project.slug": "",
	"organization.slug": "", "organization.id": `"org_01h455vb4pex5vsknk084sn02q"`, "rule.id": "$rule",
	"token.id": `"tok_01h455vb4pex5vsknk084sn02q"`, "environment.id": "$bound",
	"environments.projectId": "", "validateInputs.inputs": "", "resolveInputs.inputs": "",
	"validateInputs.environmentId": "", "validateInputs.moduleInstanceId": "", "resolveInputs.environmentId": "",
	"resolveInputs.moduleInstanceId": "", "dynamicValues.first": "100",

	"createDefaultValueDefinition.schema": "{json: {id: \"a\", label: \"L\", type: \"object\", default: $large}}",
	"updateDefaultValueDefinition.id":     "$definition",
	"updateDefaultValueDefinition.schema": "{json: {id: \"a\", label: \"L\", type: \"object\", default: $large}}",
	"deleteDefaultValueDefinition.id":     "$doomed", "updateModuleDefinition.id": "$module",
	"updateModuleDefinition.type": "", "publishModuleVersion.version": `"9.0.§"`,
	"publishModuleVersion.deploymentType": `"terraform"`, "publishModuleVersion.inputs": "$inputs",
	"publishModuleVersion.outputs": "$outputs", "deprecateModuleVersion.id": "$version",
	"undeprecateModuleVersion.id": "$version", "revokeToken.id": `"tok_01h455vb4pex5vsknk084sn02q"`,
	"updateProject.id": "$project", "deleteProject.id": "$project", "archiveProject.id": "$spare",
	"unarchiveProject.id": "$spare", "updateEnvironment.id": "$bound", "deleteEnvironment.id": "$bound",
	"archiveEnvironment.id": "$packed", "unarchiveEnvironment.id": "$packed",
	"createModuleInstance.name": `"made-§"`, "updateModuleInstance.id": "$instance",
	"updateModuleInstance.name": "", "updateModuleInstance.ownInputs": `["t"]`,
	"updateModuleInstance.onFailure": "ROLL_BACK", "deleteModuleInstance.id": "$instance",
	"archiveModuleInstance.id": "$idle", "unarchiveModuleInstance.id": "$idle",
	"destroyModuleInstance.id": "$instance", "quarantineRelease.id": `"rel_01h455vb4pex5vsknk084sn02q"`,
	"unquarantineRelease.id": `"rel_01h455vb4pex5vsknk084sn02q"`, "promoteDeployment.inputs": "",
	"promoteDeployment.moduleInstanceId": "$other", "createDeployment.inputs": "$values",
	"reportDeployment.events": "$events", "reportDeployment.logs": "$lines",
	"completeDeployment.outputs": "$large", "approveDeployment.id": "$awaiting",
	"rejectDeployment.id": "$rejected", "startDeployment.id": "$awaiting", "updateRule.id": "$rule",
	"endRule.id": `"rule_01h455vb4pex5vsknk084sn02q"`, "createRule.projectId": "",
	"createRule.environmentId": "$bound", "createRule.operations": "", "updateRule.operations": "",
	"updateRule.demand": "{approvals: {count: 5, role: DEVELOPER}}",
	"createRule.demand": "{hours: {timeZone: \"Europe/Berlin\", spans: $spans}}", "overridable": "true",
	"start": "true", "deploymentPlan.input": "{rollback: {id: $former}}",
	"createDefaultValueDefinition.name": "$text200",
}

// textLengths are those of texts that a variable has.
var textLengths = []int{200, 500, 1_000, 4_000, 10_000}

// argument returns the value of an argument or of a member of one.
func argument(field, owner, name string, of *ast.Type) string {
	for _, known := range []string{field + "." + name, name} {
		if value, ok := given[known]; ok {
			return value
		}
	}
	d := schema.Types[of.Name()]
	switch {
	case d.Kind == ast.InputObject:
		var members []string
		for _, m := range d.Fields {
			if value := argument(field, d.Name, m.Name, m.Type); value != "" {
				members = append(members, m.Name+": "+value)
			}
		}
		value := "{" + strings.Join(members, ", ") + "}"
		if of.Elem != nil {
			value = "[" + value + "]"
		}
		return value
	case !of.NonNull:
		return ""
	}
	panic(fmt.Sprintf("no value for %s of %s in %s", name, owner, field))
}
