package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/sdkjson"
)

// printer prints what slipway runner takes from a program: reports, events and outputs, a line each. It reports nothing
// twice.
type printer struct {
	to io.Writer
	// steps are the names of the steps, in order.
	steps []string
	said  string
	// reported is the record as it was reported.
	reported data
	fields   map[string]string
	err      error
}

func newPrinter(to io.Writer) *printer { return &printer{to: to, fields: map[string]string{}} }

// line prints a line. Where nobody takes it any more, the program is about to be killed, and AWS goes on by itself.
func (p *printer) line(value any) {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = fmt.Fprintf(p.to, "%s\n", text)
	}
	if err != nil && p.err == nil {
		p.err = err
	}
}

// update changes the record, and reports what has changed.
func (p *printer) update(change func(d *data)) {
	before := membersOf(p.reported)
	change(&p.reported)
	changed := map[string]json.RawMessage{}
	for name, value := range membersOf(p.reported) {
		if string(before[name]) != string(value) {
			changed[name] = value
		}
	}
	if len(changed) > 0 {
		p.line(map[string]any{"report": map[string]any{"data": changed}})
	}
}

func membersOf(d data) (members map[string]json.RawMessage) {
	text, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	if err != nil {
		panic(err) // texts and numbers can be encoded
	}
	return members
}

// externalID is the field for what events call the deployment.
const externalID = "externalDeploymentId"

// field reports a field of the deployment itself.
func (p *printer) field(name, value string) {
	if value != "" && p.fields[name] != value {
		p.fields[name] = value
		p.line(map[string]any{"report": map[string]string{name: value}})
	}
}

// progress is an event.
type progress struct {
	CurrentStep    int    `json:"currentStep,omitempty"`
	TotalSteps     int    `json:"totalSteps,omitempty"`
	StartedAt      string `json:"startedAt,omitempty"`
	DesiredCount   *int32 `json:"desiredCount,omitempty"`
	HookID         string `json:"hookId,omitempty"`
	LifecycleStage string `json:"lifecycleStage,omitempty"`
	Message        string `json:"message"`
}

// event prints an event.
func (p *printer) event(e progress) { p.line(e) }

// message prints an event that is nothing but a message, unless it was the last.
func (p *printer) message(message string) {
	if message != p.said {
		p.said = message
		p.line(progress{Message: message})
	}
}

// step says that a step begins.
func (p *printer) step(name, message string) {
	p.event(progress{CurrentStep: slices.Index(p.steps, name) + 1, TotalSteps: len(p.steps), Message: message})
}

// lifecycle are the stages of a service deployment that is not rolling.
var lifecycle = []string{
	"RECONCILE_SERVICE", "PRE_SCALE_UP", "SCALE_UP", "POST_SCALE_UP", "TEST_TRAFFIC_SHIFT", "POST_TEST_TRAFFIC_SHIFT",
	"PRE_PRODUCTION_TRAFFIC_SHIFT", "PRODUCTION_TRAFFIC_SHIFT", "POST_PRODUCTION_TRAFFIC_SHIFT", "BAKE_TIME", "CLEAN_UP",
}

// stepsOf returns the names of the steps of a deployment.
func stepsOf(strategy types.DeploymentStrategy) []string {
	steps := []string{"TASK_DEFINITION", "SERVICE"}
	if strategy == types.DeploymentStrategyRolling {
		steps = append(steps, "ROLLING")
	} else {
		steps = append(steps, lifecycle...)
	}
	return append(steps, "DONE")
}

// begin takes over what an earlier program has reported of this deployment, and says so where somebody has changed what
// is live.
func (p *printer) begin(service *types.Service, w *worker) {
	known := w.Deployment.Data
	p.reported = data{ELBListenerState: known.ELBListenerState, AcceptedPauseControl: known.AcceptedPauseControl}
	p.update(func(d *data) {
		d.ClusterARN = w.wants().ClusterARN
		d.ECSModuleDeploymentID = w.Deployment.ID
		if service != nil {
			d.ServiceARN = text(service.ServiceArn)
		}
	})
	if service == nil || tagOf(service.Tags, tagDeployment) == w.Deployment.ID || known.PreviousTaskDefinition == nil {
		return
	}
	if live := known.PreviousTaskDefinition.ARN; live != "" && live != text(service.TaskDefinition) {
		p.message(fmt.Sprintf("The service was changed outside: it runs %s, and %s is live at Slipway. This deployment "+
			"replaces it.",
			text(service.TaskDefinition), live))
	}
}

// taskDefinition reports what the release does not say of the task definition. Of the rest Slipway has the release.
func (p *printer) taskDefinition(d *types.TaskDefinition, shipped artifact) {
	p.message(fmt.Sprintf("The task definition is %s.", text(d.TaskDefinitionArn)))
	added := &taskDefinition{}
	if shipped.ARN == "" {
		added.ARN = text(d.TaskDefinitionArn)
	}
	if shipped.Revision == 0 {
		added.Revision = d.Revision
	}

	if len(shipped.Definition) == 0 {
		members, _ := sdkjson.Of(d).(map[string]any)
		for _, name := range shown {
			delete(members, name)
		}
		definition, err := json.Marshal(members)
		if err != nil {
			panic(err) // what the SDK has read can be encoded
		}
		added.Definition = definition
	}

	p.update(func(d *data) { d.DeployedTaskDefinition = added })
}

// started reports what the service deployment is called.
func (p *printer) started(service *types.Service, own *types.ServiceDeploymentBrief, definition *types.TaskDefinition) {
	p.field("resourceArn", text(service.ServiceArn))
	p.field("resourceName", text(service.ServiceName))
	for _, d := range service.Deployments {
		if text(d.TaskDefinition) == text(definition.TaskDefinitionArn) {
			p.field(externalID, text(d.Id)) // the first is the newest
			break
		}
	}
	p.update(func(d *data) {
		d.ServiceARN, d.ClusterARN = text(service.ServiceArn), text(service.ClusterArn)
		d.ServiceDeploymentARN = text(own.ServiceDeploymentArn)
	})
}

// outputs prints what other deployments may read of this one.
func (p *printer) outputs(w *worker, definition *types.TaskDefinition) error {
	in := w.wants()
	p.line(map[string]any{"outputs": map[string]any{
		"service_arn": p.reported.ServiceARN, "service_name": in.ServiceName, "cluster_arn": p.reported.ClusterARN,
		"task_definition_arn": text(definition.TaskDefinitionArn), "target_group_arns": targetGroupsOf(w.plan.balancers),
	}})
	return p.err
}

// sameState reports whether two states are the same but for when they were seen.
func sameState(a, b *state) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.ObservedAt, y.ObservedAt = "", ""
	return reflect.DeepEqual(x, y)
}

// timeIn returns a time in a text that slipway keeps.
func timeIn(at *time.Time) string {
	if at == nil {
		return ""
	}
	return stamp(*at)
}
