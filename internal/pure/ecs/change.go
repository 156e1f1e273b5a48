package ecs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"

	"slipway/internal/base/fault"
)

// Replay returns the data of a new deployment that ships artifact, the release's task definition as a
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
	deployed, err := readTaskDefinition(artifact)
	if err != nil {
		return nil, fmt.Errorf("ecs: the artifact is no task definition: %w", err)
	}
	replay.DeployedTaskDefinition = deployed
	return replay, nil
}

// filled are the fields that Slipway itself fills when a deployment is made: who started it, what it ships and what
// was live before. They are evidence, and nobody changes them.
var filled = []string{"deployedTaskDefinition", "previousTaskDefinition", "triggerChannel", "triggeredBy"}

// Unchanged returns a violation for each field of patch that Slipway itself has filled and that patch has with
// another value. A program that hands back what it was given says nothing new. It may add to the deployed task
// definition what the release does not say, because it may be the program that registers it.
func (d *Data) Unchanged(patch *Data) []fault.Violation {
	var found fault.Violations
	have, given := d.members(), patch.members()
	for _, name := range filled {
		value, ok := given[name]
		if ok && !reflect.DeepEqual(value, have[name]) && (name != "deployedTaskDefinition" || !adds(have[name], value)) {
			found.Add(fault.Pointer(name), "read_only",
				"was filled by Slipway when the deployment was made, and must be left out or stay as it is")
		}
	}
	return found.All("")
}

// adds reports whether an object has no member of another with another value.
func adds(have, given any) bool {
	old, _ := have.(map[string]any)
	now, ok := given.(map[string]any)
	for name, value := range now {
		there, known := old[name]
		ok = ok && (!known || reflect.DeepEqual(value, there))
	}
	return ok
}

// members are the fields as JSON has them.
func (d *Data) members() map[string]any {
	var members map[string]any
	if err := json.Unmarshal(d.Encode(), &members); err != nil {
		panic(fmt.Errorf("ecs: decode what was encoded: %w", err))
	}
	return members
}

// Merge takes over what a runner reports: each field of patch that is there replaces that of d, whole.
// The type and what Slipway has filled never change. What it has left open of the deployed task definition is added,
// and the events are left to event.Append.
func (d *Data) Merge(patch *Data) {
	replace(&d.ClusterARN, patch.ClusterARN)
	replace(&d.ServiceARN, patch.ServiceARN)
	replace(&d.AcceptedPauseControl, patch.AcceptedPauseControl)
	replace(&d.DetectedVia, patch.DetectedVia)
	replace(&d.ECSModuleDeploymentID, patch.ECSModuleDeploymentID)
	replace(&d.PostDeployEnabled, patch.PostDeployEnabled)
	replace(&d.PreDeployEnabled, patch.PreDeployEnabled)
	replace(&d.RevertExternalDeploymentID, patch.RevertExternalDeploymentID)
	replace(&d.RevertRequestedAt, patch.RevertRequestedAt)
	replace(&d.RevertServiceDeploymentARN, patch.RevertServiceDeploymentARN)
	replace(&d.ServiceDeploymentARN, patch.ServiceDeploymentARN)
	replace(&d.ServiceDeploymentState, patch.ServiceDeploymentState)
	d.DeployedTaskDefinition = d.DeployedTaskDefinition.completed(patch.DeployedTaskDefinition)
	if patch.ELBListenerState != nil {
		d.ELBListenerState = patch.ELBListenerState
	}
}

func replace[T any](old **T, reported *T) {
	if reported != nil {
		*old = reported
	}
}

// completed returns a task definition with what another one says beyond it. Either may be nil.
func (t *TaskDefinition) completed(by *TaskDefinition) *TaskDefinition {
	if t == nil || by == nil {
		return cmp.Or(t, by)
	}
	all := *t
	all.ARN, all.Revision = cmp.Or(t.ARN, by.ARN), cmp.Or(t.Revision, by.Revision)
	if all.Definition == nil {
		all.Definition = by.Definition
	}
	return &all
}
