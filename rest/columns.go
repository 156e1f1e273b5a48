package rest

import (
	entdeployment "slipway/ent/deployment"
	"slipway/ent/moduledefinition"
	"slipway/internal/data/record"
)

// shown are the columns that the records of the reading operations show, and that of the deployment's entity tag.
var shown = record.NewColumns(map[string][]string{
	entdeployment.Table: {
		entdeployment.FieldStatus, entdeployment.FieldUpdatedAt, entdeployment.FieldProjectID,
		entdeployment.FieldEnvironmentID, entdeployment.FieldModuleInstanceID,
		entdeployment.FieldDeploymentType, entdeployment.FieldTriggerSource, entdeployment.FieldDescription,
		entdeployment.FieldStartedAt, entdeployment.FieldCompletedAt, entdeployment.FieldError,
		entdeployment.FieldExternalDeploymentID, entdeployment.FieldPipelineRunID, entdeployment.FieldStepExecutionID,
		entdeployment.FieldResourceArn, entdeployment.FieldResourceName,
		entdeployment.FieldRedeployOfDeploymentID, entdeployment.FieldRollbackToDeploymentID,
		entdeployment.FieldData, entdeployment.FieldVersion,
	},
	moduledefinition.Table: {
		moduledefinition.FieldName, moduledefinition.FieldDescription, moduledefinition.FieldType,
		moduledefinition.FieldUpdatedAt,
		moduledefinition.FieldLatestVersion, moduledefinition.FieldLatestVersionID,
	},
})
