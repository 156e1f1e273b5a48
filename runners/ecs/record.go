package main

import (
	"encoding/json"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// data is what Slipway keeps of a deployment of this type, as far as a program fills it.
type data struct {
	ClusterARN                 string          `json:"clusterArn,omitempty"`
	ServiceARN                 string          `json:"serviceArn,omitempty"`
	AcceptedPauseControl       *pause          `json:"acceptedPauseControl,omitempty"`
	DeployedTaskDefinition     *taskDefinition `json:"deployedTaskDefinition,omitempty"`
	PreviousTaskDefinition     *taskDefinition `json:"previousTaskDefinition,omitempty"`
	ECSModuleDeploymentID      string          `json:"ecsModuleDeploymentId,omitempty"`
	ELBListenerState           []listenerState `json:"elbListenerState,omitempty"`
	PreDeployEnabled           *bool           `json:"preDeployEnabled,omitempty"`
	PostDeployEnabled          *bool           `json:"postDeployEnabled,omitempty"`
	RevertExternalDeploymentID string          `json:"revertExternalDeploymentId,omitempty"`
	RevertRequestedAt          string          `json:"revertRequestedAt,omitempty"`
	RevertServiceDeploymentARN string          `json:"revertServiceDeploymentArn,omitempty"`
	ServiceDeploymentARN       string          `json:"serviceDeploymentArn,omitempty"`
	ServiceDeploymentState     *state          `json:"serviceDeploymentState,omitempty"`
}

// taskDefinition is a task definition; what is live before it is read, and never reported.
type taskDefinition struct {
	ARN        string          `json:"arn,omitempty"`
	Definition json.RawMessage `json:"definition,omitempty"`
	Revision   int32           `json:"revision,omitempty"`
}

type pause struct {
	AcceptedAt     string `json:"acceptedAt"`
	HookID         string `json:"hookId"`
	EventStartedAt string `json:"eventStartedAt,omitempty"`
	LifecycleStage string `json:"lifecycleStage,omitempty"`
}

type state struct {
	AcceptsNativeStandbyRevert bool       `json:"acceptsNativeStandbyRevert"`
	ObservedAt                 string     `json:"observedAt"`
	ServiceDeploymentARN       string     `json:"serviceDeploymentArn"`
	Status                     string     `json:"status"`
	LifecycleStage             string     `json:"lifecycleStage,omitempty"`
	StatusReason               string     `json:"statusReason,omitempty"`
	Strategy                   string     `json:"strategy,omitempty"`
	SourceServiceRevisions     []revision `json:"sourceServiceRevisions"`
	TargetServiceRevision      *revision  `json:"targetServiceRevision,omitempty"`
}

type revision struct {
	PendingTaskCount                 int32  `json:"pendingTaskCount"`
	RequestedTaskCount               int32  `json:"requestedTaskCount"`
	RunningTaskCount                 int32  `json:"runningTaskCount"`
	ServiceRevisionARN               string `json:"serviceRevisionArn"`
	RequestedProductionTrafficWeight *int32 `json:"requestedProductionTrafficWeight,omitempty"`
	RequestedTestTrafficWeight       *int32 `json:"requestedTestTrafficWeight,omitempty"`
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func stateOf(o *observation) *state {
	s := &state{
		ObservedAt: stamp(o.at), ServiceDeploymentARN: text(o.ServiceDeploymentArn), Status: string(o.Status),
		LifecycleStage: string(o.LifecycleStage), StatusReason: text(o.StatusReason), SourceServiceRevisions: []revision{},
		AcceptsNativeStandbyRevert: acceptsNativeStandbyRevert(o.ServiceDeployment),
	}
	if o.DeploymentConfiguration != nil {
		s.Strategy = string(o.DeploymentConfiguration.Strategy)
	}
	for i := range o.SourceServiceRevisions {
		s.SourceServiceRevisions = append(s.SourceServiceRevisions, *revisionOf(&o.SourceServiceRevisions[i]))
	}
	s.TargetServiceRevision = revisionOf(o.TargetServiceRevision)
	return s
}

func revisionOf(r *types.ServiceRevisionSummary) *revision {
	if r == nil {
		return nil
	}
	return &revision{
		PendingTaskCount: r.PendingTaskCount, RequestedTaskCount: r.RequestedTaskCount, RunningTaskCount: r.RunningTaskCount,
		ServiceRevisionARN:               text(r.Arn),
		RequestedProductionTrafficWeight: percent(r.RequestedProductionTrafficWeight),
		RequestedTestTrafficWeight:       percent(r.RequestedTestTrafficWeight),
	}
}

// percent returns a weight in whole percent.
func percent(weight *float64) *int32 {
	if weight == nil {
		return nil
	}
	whole := int32(math.Round(*weight))
	return &whole
}

// acceptsNativeStandbyRevert reports whether ECS can go back to the earlier revision at once, because that still runs
// beside the new one: the service deployment has not ended, its strategy keeps both, and the earlier one has tasks.
func acceptsNativeStandbyRevert(d *types.ServiceDeployment) bool {
	if hasEnded(d.Status) || d.DeploymentConfiguration == nil ||
		d.DeploymentConfiguration.Strategy == types.DeploymentStrategyRolling {
		return false
	}
	for _, r := range d.SourceServiceRevisions {
		if r.RunningTaskCount > 0 {
			return true
		}
	}
	return false
}

// beforeShift are the stages before production traffic moves.
var beforeShift = []types.DeploymentLifecycleHookStage{
	types.DeploymentLifecycleHookStageReconcileService, types.DeploymentLifecycleHookStagePreScaleUp,
	types.DeploymentLifecycleHookStagePostScaleUp,
	types.DeploymentLifecycleHookStageTestTrafficShift, types.DeploymentLifecycleHookStagePostTestTrafficShift,
	types.DeploymentLifecycleHookStagePreProductionTrafficShift,
}
