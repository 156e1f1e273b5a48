package data

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
)

// hole is what the text of the data has where each deployment has something else, of the same length.
const hole = "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~"

// detail returns what is between the holes of the data of every deployment.
var detail = sync.OnceValue(func() []string {
	state := &ecs.ServiceDeploymentState{
		AcceptsNativeStandbyRevert: new(true), ObservedAt: new("2026-01-01T00:02:58Z"),
		ServiceDeploymentARN: arn("service-deployment"),
		Status:               new("SUCCESSFUL"), LifecycleStage: new("CLEANUP"), Strategy: new("BLUE_GREEN"),
		SourceServiceRevisions: []ecs.ServiceRevision{*revision(0, 0)}, TargetServiceRevision: revision(3, 100),
	}
	d := &ecs.Data{
		Type: ecs.Type, ClusterARN: arn("cluster"), ServiceARN: arn("service"), DetectedVia: new("event"),
		DeployedTaskDefinition: taskDefinition(), PreviousTaskDefinition: taskDefinition(),
		ECSModuleDeploymentID: new(hole), PostDeployEnabled: new(true), PreDeployEnabled: new(false),
		ServiceDeploymentARN: arn("service-deployment"), ServiceDeploymentState: state,
		TriggerChannel: new("graphql"), TriggeredBy: new("ci@" + hole + ".example"),
	}
	for i := range 2 {
		d.ELBListenerState = append(d.ELBListenerState, ecs.ListenerState{
			CapturedAt: new(fmt.Sprintf("2026-01-01T00:0%d:00Z", i)), LoadBalancerARN: arn("loadbalancer"),
			LoadBalancerDNSName: new(hole + ".elb.example"),
			Rules: []ecs.ListenerRule{{
				IsDefaultRule: new(i == 0), ListenerARN: arn("listener"), Port: new(int32(443)), Protocol: new("HTTPS"),
				RuleARN: arn("rule"), TargetGroupARN: arn("targetgroup"), HostHeaders: []string{"a.example", "b.example"},
				PathPatterns: []string{"/*"}, RulePriority: new(int32(i + 1)),
			}},
		})
	}
	for i := range 4 {
		d.Events = append(d.Events, event.Event{
			CurrentStep: new(int32(i + 1)), TotalSteps: new(int32(4)), StartedAt: new(fmt.Sprintf("2026-01-01T00:0%d:00Z", i)),
			LifecycleStage: new(fmt.Sprintf("STAGE_%d", i)), Message: new("Tasks of the revision " + hole + " are running"),
		})
	}
	return strings.Split(string(d.Encode()), hole)
})

func arn(kind string) *string {
	return new("arn:aws:ecs:eu-west-1:123456789012:" + kind + "/" + hole)
}

func revision(tasks, weight int32) *ecs.ServiceRevision {
	return &ecs.ServiceRevision{
		PendingTaskCount: new(int32(0)), RequestedTaskCount: new(tasks), RunningTaskCount: new(tasks),
		ServiceRevisionARN:               arn("revision"),
		RequestedProductionTrafficWeight: new(weight), RequestedTestTrafficWeight: new(weight),
	}
}

func taskDefinition() *ecs.TaskDefinition {
	var environment []string
	for i := range 4 {
		environment = append(environment, fmt.Sprintf(`{"name":"SETTING_%d","value":%q}`, i, hole))
	}
	definition := `{"family":"service","cpu":"512","memory":"1024","networkMode":"awsvpc","containerDefinitions":[{"name":"main","image":"registry.example/team/service@sha256:` +
		hole + hole + `","essential":true,"environment":[` + strings.Join(environment, ",") + `]}]}`
	return &ecs.TaskDefinition{
		ARN: arn("task-definition"), Definition: json.RawMessage(definition), Revision: new(int32(7)),
	}
}

// Data returns its data, of about 4 KB, as they are stored.
func (d Deployment) Data() string {
	parts := detail()
	text := make([]byte, 0, 4500)
	for i, part := range parts {
		switch {
		case i == 0:
		case strings.HasSuffix(parts[i-1], service):
			text = d.Instance().appendService(text)
		default:
			text = appendNoise(text, uint64(d.Number)<<8|uint64(i))
		}
		text = append(text, part...)
	}
	return string(text)
}

// service is what the ARN of a service begins with.
const service = "arn:aws:ecs:eu-west-1:123456789012:service/"

// ServiceARN returns the ARN of the service that the deployments of an instance are of.
func (i Instance) ServiceARN() string { return string(i.appendService([]byte(service))) }

// appendService appends the end of the service's ARN.
func (i Instance) appendService(text []byte) []byte {
	return appendNoise(text, uint64(i.Number())<<8|0xff)
}

// appendNoise appends hexadecimal digits that fill a hole. They look random, so that they do not compress, and follow
// from the number.
func appendNoise(text []byte, number uint64) []byte {
	const digits = "0123456789abcdef"
	for half := range uint64(2) {
		x := (number<<1 | half) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
		for range len(hole) / 2 {
			text = append(text, digits[x&15])
			x >>= 4
		}
	}
	return text
}
