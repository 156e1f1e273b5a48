package ecs

import (
	"encoding/json"
	"fmt"
)

// Replay gives the data of a new deployment that ships artifact, the release's task definition as a
// JSON object, to where d was deployed. It takes cluster, service and the two hook switches from d,
// which may be nil; previous is the task definition that was live before. All else starts empty. The
// error says that artifact is not a task definition.
func (d *Data) Replay(artifact json.RawMessage, previous *TaskDefinition, channel, by string) (*Data, error) {
	replay := &Data{Type: Type, PreviousTaskDefinition: previous, TriggerChannel: &channel, TriggeredBy: &by}
	if d != nil {
		replay.ClusterARN = d.ClusterARN
		replay.ServiceARN = d.ServiceARN
		replay.PreDeployEnabled = d.PreDeployEnabled
		replay.PostDeployEnabled = d.PostDeployEnabled
	}
	if artifact == nil {
		return replay, nil
	}
	deployed, violations := DecodeTaskDefinition(artifact)
	if len(violations) > 0 {
		return nil, fmt.Errorf("ecs: the artifact is no task definition: at %q it %s", violations[0].Pointer, violations[0].Message)
	}
	replay.DeployedTaskDefinition = deployed
	return replay, nil
}

// Merge takes over what a runner reports: each field of patch that is there replaces that of d, whole.
// The type never changes, and the events are left to Append.
func (d *Data) Merge(patch *Data) {
	replace(&d.ClusterARN, patch.ClusterARN)
	replace(&d.ServiceARN, patch.ServiceARN)
	replace(&d.AcceptedPauseControl, patch.AcceptedPauseControl)
	replace(&d.DeployedTaskDefinition, patch.DeployedTaskDefinition)
	replace(&d.PreviousTaskDefinition, patch.PreviousTaskDefinition)
	replace(&d.DetectedVia, patch.DetectedVia)
	replace(&d.ECSModuleDeploymentID, patch.ECSModuleDeploymentID)
	replace(&d.PostDeployEnabled, patch.PostDeployEnabled)
	replace(&d.PreDeployEnabled, patch.PreDeployEnabled)
	replace(&d.RevertExternalDeploymentID, patch.RevertExternalDeploymentID)
	replace(&d.RevertRequestedAt, patch.RevertRequestedAt)
	replace(&d.RevertServiceDeploymentARN, patch.RevertServiceDeploymentARN)
	replace(&d.ServiceDeploymentARN, patch.ServiceDeploymentARN)
	replace(&d.ServiceDeploymentState, patch.ServiceDeploymentState)
	replace(&d.TriggerChannel, patch.TriggerChannel)
	replace(&d.TriggeredBy, patch.TriggeredBy)
	if patch.ELBListenerState != nil {
		d.ELBListenerState = patch.ELBListenerState
	}
}

func replace[T any](old **T, reported *T) {
	if reported != nil {
		*old = reported
	}
}
