package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"slipway/internal/remote/client"
	"slipway/internal/remote/runner/keeper"
)

// input is what a program reads on standard input.
type input struct {
	Deployment deployment `json:"deployment"`
	// Release is what to deploy.
	Release *shippedRelease `json:"release"`
	// Live is what is deployed now; nil before the first success.
	Live *live `json:"live"`
}

type deployment struct {
	ID                     string          `json:"id"`
	Fence                  string          `json:"fence"`
	OrganizationID         string          `json:"organizationId"`
	ProjectID              string          `json:"projectId"`
	Project                named           `json:"project"`
	EnvironmentID          string          `json:"environmentId"`
	Environment            named           `json:"environment"`
	ModuleInstanceID       string          `json:"moduleInstanceId"`
	ModuleInstanceName     string          `json:"moduleInstanceName"`
	DeploymentType         string          `json:"deploymentType"`
	TriggerSource          string          `json:"triggerSource"`
	Action                 string          `json:"action"`
	Description            *string         `json:"description"`
	CreatedAt              time.Time       `json:"createdAt"`
	CreatedBy              string          `json:"createdBy"`
	RollbackToDeploymentID *string         `json:"rollbackToDeploymentId"`
	RedeployOfDeploymentID *string         `json:"redeployOfDeploymentId"`
	ExternalDeploymentID   *string         `json:"externalDeploymentId"`
	ResourceARN            *string         `json:"resourceArn"`
	ResourceName           *string         `json:"resourceName"`
	Data                   json.RawMessage `json:"data"`
}

type named struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
}

type shippedRelease struct {
	ID            string          `json:"id"`
	Digest        string          `json:"digest"`
	ModuleVersion moduleVersion   `json:"moduleVersion"`
	Inputs        json.RawMessage `json:"inputs"`
	Artifact      json.RawMessage `json:"artifact"`
}

type moduleVersion struct {
	ID               string           `json:"id"`
	Version          string           `json:"version"`
	DeploymentType   string           `json:"deploymentType"`
	SourceURL        *string          `json:"sourceUrl"`
	SourceRef        *string          `json:"sourceRef"`
	SourcePath       *string          `json:"sourcePath"`
	ModuleDefinition moduleDefinition `json:"moduleDefinition"`
}

type moduleDefinition struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type live struct {
	DeploymentID string          `json:"deploymentId"`
	Release      *shippedRelease `json:"release"`
}

// newInput returns what the program of a claimed deployment reads.
func newInput(d *client.ClaimedDeployment) input {
	fence := "" // of a server from before fences
	if d.Fence != nil {
		fence = *d.Fence
	}

	in := input{Deployment: deployment{
		ID: d.Id, Fence: fence, OrganizationID: d.OrganizationId,
		ProjectID: d.ProjectId, Project: named(d.Project),
		EnvironmentID: d.EnvironmentId, Environment: named(d.Environment),
		ModuleInstanceID: d.ModuleInstanceId, ModuleInstanceName: d.ModuleInstance.Name,
		DeploymentType: d.DeploymentType, TriggerSource: d.TriggerSource, Action: actionOf(d.TriggerSource),
		Description: d.Description,
		CreatedAt:   d.CreatedAt, CreatedBy: d.CreatedBy.Name,
		RollbackToDeploymentID: d.RollbackToDeploymentId, RedeployOfDeploymentID: d.RedeployOfDeploymentId,
		ExternalDeploymentID: d.ExternalDeploymentId, ResourceARN: d.ResourceArn, ResourceName: d.ResourceName, Data: d.Data,
	}, Release: newRelease(d.Release)}

	if l := d.ModuleInstance.LiveDeployment; l != nil {
		in.Live = &live{l.Id, newRelease(l.Release)}
	}
	return in
}

// What a program is to do, as it is told.
const (
	actionApply   = "apply"
	actionDestroy = "destroy"
)

// actionOf returns what the program of a deployment is to do, by what started that.
func actionOf(triggerSource string) string {
	if triggerSource == actionDestroy {
		return actionDestroy
	}
	return actionApply
}

func newRelease(r *client.ShippedRelease) *shippedRelease {
	if r == nil {
		return nil
	}
	shipped := &shippedRelease{ID: r.Id, Digest: r.Digest, Inputs: r.Inputs, Artifact: r.Artifact}
	v := r.ModuleVersion
	shipped.ModuleVersion = moduleVersion{
		v.Id, v.Version, v.DeploymentType, v.SourceUrl, v.SourceRef, v.SourcePath, moduleDefinition(v.ModuleDefinition),
	}
	return shipped
}

// variablePrefix begins the names of Slipway's environment variables; the token is in one of them.
const variablePrefix = "SLIPWAY_"

// environ returns an environment without the runner's own variables and with those of the deployment. The program reads
// there how it is stopped.
func (in *input) environ(from []string, stop keeper.StopMode) []string {
	var env []string
	for _, variable := range from {
		if !strings.HasPrefix(variable, variablePrefix) {
			env = append(env, variable)
		}
	}

	d, shipped := &in.Deployment, in.Release
	if shipped == nil {
		shipped = &shippedRelease{}
	}

	for _, v := range [][2]string{
		{"DEPLOYMENT_ID", d.ID},
		{"FENCE", d.Fence},
		{"INSTANCE_ID", d.ModuleInstanceID},
		{"ENVIRONMENT_ID", d.EnvironmentID},
		{"PROJECT_ID", d.ProjectID},
		{"ORGANIZATION_ID", d.OrganizationID},
		{"RELEASE_ID", shipped.ID},
		{"RELEASE_DIGEST", shipped.Digest},
		{"MODULE_VERSION", shipped.ModuleVersion.Version},
		{"TRIGGER", d.TriggerSource},
		{"ACTION", d.Action},
		{"STOP", string(stop)},
	} {
		env = append(env, variablePrefix+v[0]+"="+v[1])
	}
	return env
}

// encode returns the input as one line of JSON.
func (in *input) encode() ([]byte, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode the deployment: %w", err)
	}
	return append(text, '\n'), nil
}
