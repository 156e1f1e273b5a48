package ecs

import "slipway/internal/event"

// data and the functions below say how each field of the types in data.go is read.
func (o object) data() *Data {
	return &Data{
		Type:                       member(o, "type", discriminator),
		ClusterARN:                 member(o, "clusterArn", text),
		ServiceARN:                 member(o, "serviceArn", text),
		AcceptedPauseControl:       member(o, "acceptedPauseControl", acceptedPauseControl),
		DeployedTaskDefinition:     member(o, "deployedTaskDefinition", taskDefinition),
		PreviousTaskDefinition:     member(o, "previousTaskDefinition", taskDefinition),
		DetectedVia:                member(o, "detectedVia", text),
		ECSModuleDeploymentID:      member(o, "ecsModuleDeploymentId", text),
		ELBListenerState:           member(o, "elbListenerState", list(listenerState)),
		Events:                     member(o, "events", list(deploymentEvent)),
		PostDeployEnabled:          member(o, "postDeployEnabled", flag),
		PreDeployEnabled:           member(o, "preDeployEnabled", flag),
		RevertExternalDeploymentID: member(o, "revertExternalDeploymentId", text),
		RevertRequestedAt:          member(o, "revertRequestedAt", moment),
		RevertServiceDeploymentARN: member(o, "revertServiceDeploymentArn", text),
		ServiceDeploymentARN:       member(o, "serviceDeploymentArn", text),
		ServiceDeploymentState:     member(o, "serviceDeploymentState", serviceDeploymentState),
		TriggerChannel:             member(o, "triggerChannel", text),
		TriggeredBy:                member(o, "triggeredBy", text),
	}
}

func acceptedPauseControl(p place) *AcceptedPauseControl {
	o := closed[AcceptedPauseControl](p)
	return &AcceptedPauseControl{
		AcceptedAt:     member(o, "acceptedAt", moment),
		HookID:         member(o, "hookId", text),
		EventStartedAt: member(o, "eventStartedAt", moment),
		LifecycleStage: member(o, "lifecycleStage", text),
	}
}

func taskDefinition(p place) *TaskDefinition {
	o := closed[TaskDefinition](p)
	return &TaskDefinition{
		ARN:        member(o, "arn", text),
		Definition: member(o, "definition", freeForm),
		Revision:   member(o, "revision", count),
	}
}

func listenerState(p place) *ListenerState {
	o := open(p)
	return &ListenerState{
		CapturedAt:          member(o, "capturedAt", moment),
		LoadBalancerARN:     member(o, "loadBalancerArn", text),
		LoadBalancerDNSName: member(o, "loadBalancerDnsName", text),
		Rules:               member(o, "rules", list(listenerRule)),
	}
}

func listenerRule(p place) *ListenerRule {
	o := open(p)
	return &ListenerRule{
		IsDefaultRule:   member(o, "isDefaultRule", flag),
		ListenerARN:     member(o, "listenerArn", text),
		Port:            member(o, "port", count),
		Protocol:        member(o, "protocol", text),
		RuleARN:         member(o, "ruleArn", text),
		TargetGroupARN:  member(o, "targetGroupArn", text),
		HostHeaders:     member(o, "hostHeaders", list(text)),
		PathPatterns:    member(o, "pathPatterns", list(text)),
		RulePriority:    member(o, "rulePriority", count),
		TargetGroupName: member(o, "targetGroupName", text),
	}
}

func deploymentEvent(p place) *event.Event {
	o := closed[event.Event](p)
	return &event.Event{
		CurrentStep:    member(o, "currentStep", count),
		TotalSteps:     member(o, "totalSteps", count),
		StartedAt:      member(o, "startedAt", moment),
		DesiredCount:   member(o, "desiredCount", count),
		HookID:         member(o, "hookId", text),
		LifecycleStage: member(o, "lifecycleStage", text),
		Message:        member(o, "message", text),
	}
}

func serviceDeploymentState(p place) *ServiceDeploymentState {
	o := open(p)
	return &ServiceDeploymentState{
		AcceptsNativeStandbyRevert: member(o, "acceptsNativeStandbyRevert", flag),
		ObservedAt:                 member(o, "observedAt", moment),
		ServiceDeploymentARN:       member(o, "serviceDeploymentArn", text),
		Status:                     member(o, "status", text),
		LifecycleStage:             member(o, "lifecycleStage", text),
		StatusReason:               member(o, "statusReason", text),
		Strategy:                   member(o, "strategy", text),
		SourceServiceRevisions:     member(o, "sourceServiceRevisions", list(serviceRevision)),
		TargetServiceRevision:      member(o, "targetServiceRevision", serviceRevision),
	}
}

func serviceRevision(p place) *ServiceRevision {
	o := open(p)
	return &ServiceRevision{
		PendingTaskCount:                 member(o, "pendingTaskCount", count),
		RequestedTaskCount:               member(o, "requestedTaskCount", count),
		RunningTaskCount:                 member(o, "runningTaskCount", count),
		ServiceRevisionARN:               member(o, "serviceRevisionArn", text),
		RequestedProductionTrafficWeight: member(o, "requestedProductionTrafficWeight", weight),
		RequestedTestTrafficWeight:       member(o, "requestedTestTrafficWeight", weight),
	}
}
