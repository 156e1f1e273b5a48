package rest

import (
	"encoding/json"
	"time"

	"slipway/ent"
	"slipway/internal/fault"
)

// deployment is the record of a deployment.
type deployment struct {
	ID                     string          `json:"id"`
	CreatedAt              time.Time       `json:"createdAt"`
	UpdatedAt              time.Time       `json:"updatedAt"`
	OrganizationID         string          `json:"organizationId"`
	ProjectID              string          `json:"projectId"`
	EnvironmentID          string          `json:"environmentId"`
	ModuleInstanceID       string          `json:"moduleInstanceId"`
	DeploymentType         string          `json:"deploymentType"`
	TriggerSource          string          `json:"triggerSource"`
	Description            *string         `json:"description,omitempty"`
	StartedAt              *time.Time      `json:"startedAt,omitempty"`
	CompletedAt            *time.Time      `json:"completedAt,omitempty"`
	Error                  *fault.Data     `json:"error,omitempty"`
	ExternalDeploymentID   *string         `json:"externalDeploymentId,omitempty"`
	PipelineRunID          *string         `json:"pipelineRunId,omitempty"`
	StepExecutionID        *string         `json:"stepExecutionId,omitempty"`
	ResourceARN            *string         `json:"resourceArn,omitempty"`
	ResourceName           *string         `json:"resourceName,omitempty"`
	RedeployOfDeploymentID *string         `json:"redeployOfDeploymentId,omitempty"`
	RollbackToDeploymentID *string         `json:"rollbackToDeploymentId,omitempty"`
	Data                   json.RawMessage `json:"data,omitempty"`
}

func deploymentOf(d *ent.Deployment) deployment {
	return deployment{
		ID: d.ID, CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
		OrganizationID: d.OrganizationID, ProjectID: d.ProjectID, EnvironmentID: d.EnvironmentID,
		ModuleInstanceID: d.ModuleInstanceID, DeploymentType: d.DeploymentType, TriggerSource: d.TriggerSource,
		Description: d.Description, StartedAt: utc(d.StartedAt), CompletedAt: utc(d.CompletedAt), Error: d.Error,
		ExternalDeploymentID: d.ExternalDeploymentID, PipelineRunID: d.PipelineRunID, StepExecutionID: d.StepExecutionID,
		ResourceARN: d.ResourceArn, ResourceName: d.ResourceName,
		RedeployOfDeploymentID: d.RedeployOfDeploymentID, RollbackToDeploymentID: d.RollbackToDeploymentID,
		Data: d.Data.JSON(),
	}
}

func getDeployment(q Queries) func(request) (answer, error) {
	return func(r request) (answer, error) {
		if err := r.bare(); err != nil {
			return answer{}, err
		}
		ctx, err := r.enter()
		if err != nil {
			return answer{}, err
		}
		d, err := q.Deployment(ctx, r.id())
		if err != nil {
			return answer{}, err
		}
		return answer{etag: etag(d.Version), body: envelope{Data: deploymentOf(d)}}, nil
	}
}
