// Package ecs has the typed `data` of a deployment to the cloud's container service: what the service
// and a runner report of it, how it is read, stored, merged and carried over to a replay.
package ecs

import (
	"encoding/json"

	"slipway/internal/pure/event"
)

// Type is the deployment type that has this data, and the discriminator of the data.
const Type = "aws:ecs"

// Data is the detail of one deployment. What is nil is not known and is left out of the JSON; false, 0,
// "" and [] are kept. Every …At is the text of a UTC date-time (RFC 3339 with Z) as it was sent.
type Data struct {
	Type                       string                  `json:"type" rules:"enum=aws:ecs"`
	ClusterARN                 *string                 `json:"clusterArn,omitzero"`
	ServiceARN                 *string                 `json:"serviceArn,omitzero"`
	AcceptedPauseControl       *AcceptedPauseControl   `json:"acceptedPauseControl,omitzero"`
	DeployedTaskDefinition     *TaskDefinition         `json:"deployedTaskDefinition,omitzero"`
	PreviousTaskDefinition     *TaskDefinition         `json:"previousTaskDefinition,omitzero"`
	DetectedVia                *string                 `json:"detectedVia,omitzero"`
	ECSModuleDeploymentID      *string                 `json:"ecsModuleDeploymentId,omitzero"`
	ELBListenerState           []ListenerState         `json:"elbListenerState,omitzero"`
	Events                     []event.Event           `json:"events,omitzero"`
	PostDeployEnabled          *bool                   `json:"postDeployEnabled,omitzero"`
	PreDeployEnabled           *bool                   `json:"preDeployEnabled,omitzero"`
	RevertExternalDeploymentID *string                 `json:"revertExternalDeploymentId,omitzero"`
	RevertRequestedAt          *string                 `json:"revertRequestedAt,omitzero" rules:"format=utc_time"`
	RevertServiceDeploymentARN *string                 `json:"revertServiceDeploymentArn,omitzero"`
	ServiceDeploymentARN       *string                 `json:"serviceDeploymentArn,omitzero"`
	ServiceDeploymentState     *ServiceDeploymentState `json:"serviceDeploymentState,omitzero"`
	TriggerChannel             *string                 `json:"triggerChannel,omitzero"`
	TriggeredBy                *string                 `json:"triggeredBy,omitzero"`
}

// AcceptedPauseControl is a pause of the deployment that was accepted.
type AcceptedPauseControl struct {
	AcceptedAt     *string `json:"acceptedAt,omitzero" rules:"format=utc_time"`
	HookID         *string `json:"hookId,omitzero"`
	EventStartedAt *string `json:"eventStartedAt,omitzero" rules:"format=utc_time"`
	LifecycleStage *string `json:"lifecycleStage,omitzero"`
}

// TaskDefinition is one revision of what the service runs.
type TaskDefinition struct {
	ARN *string `json:"arn,omitzero"`
	// Definition is a JSON object of any form, kept as it was sent but for white space.
	Definition json.RawMessage `json:"definition,omitzero" rules:"shape=object"`
	Revision   *int32          `json:"revision,omitzero"`
}

// ListenerState is what a load balancer's listeners did at one moment.
type ListenerState struct {
	CapturedAt          *string        `json:"capturedAt,omitzero" rules:"format=utc_time"`
	LoadBalancerARN     *string        `json:"loadBalancerArn,omitzero"`
	LoadBalancerDNSName *string        `json:"loadBalancerDnsName,omitzero"`
	Rules               []ListenerRule `json:"rules,omitzero"`
}

// ListenerRule is one rule of a listener.
type ListenerRule struct {
	IsDefaultRule   *bool    `json:"isDefaultRule,omitzero"`
	ListenerARN     *string  `json:"listenerArn,omitzero"`
	Port            *int32   `json:"port,omitzero"`
	Protocol        *string  `json:"protocol,omitzero"`
	RuleARN         *string  `json:"ruleArn,omitzero"`
	TargetGroupARN  *string  `json:"targetGroupArn,omitzero"`
	HostHeaders     []string `json:"hostHeaders,omitzero"`
	PathPatterns    []string `json:"pathPatterns,omitzero"`
	RulePriority    *int32   `json:"rulePriority,omitzero"`
	TargetGroupName *string  `json:"targetGroupName,omitzero"`
}

// ServiceDeploymentState is the cloud's own view of the deployment at one moment. Its status, lifecycle
// stage and strategy are open: the cloud adds values.
type ServiceDeploymentState struct {
	AcceptsNativeStandbyRevert *bool             `json:"acceptsNativeStandbyRevert,omitzero"`
	ObservedAt                 *string           `json:"observedAt,omitzero" rules:"format=utc_time"`
	ServiceDeploymentARN       *string           `json:"serviceDeploymentArn,omitzero"`
	Status                     *string           `json:"status,omitzero"`
	LifecycleStage             *string           `json:"lifecycleStage,omitzero"`
	StatusReason               *string           `json:"statusReason,omitzero"`
	Strategy                   *string           `json:"strategy,omitzero"`
	SourceServiceRevisions     []ServiceRevision `json:"sourceServiceRevisions,omitzero"`
	TargetServiceRevision      *ServiceRevision  `json:"targetServiceRevision,omitzero"`
}

// ServiceRevision is how far one revision of the service is: tasks, and weights of traffic in whole
// percent (the cloud sends fractions, which are rounded).
type ServiceRevision struct {
	PendingTaskCount                 *int32  `json:"pendingTaskCount,omitzero"`
	RequestedTaskCount               *int32  `json:"requestedTaskCount,omitzero"`
	RunningTaskCount                 *int32  `json:"runningTaskCount,omitzero"`
	ServiceRevisionARN               *string `json:"serviceRevisionArn,omitzero"`
	RequestedProductionTrafficWeight *int32  `json:"requestedProductionTrafficWeight,omitzero" rules:"rounded"`
	RequestedTestTrafficWeight       *int32  `json:"requestedTestTrafficWeight,omitzero" rules:"rounded"`
}
