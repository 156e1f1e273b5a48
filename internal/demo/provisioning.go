package demo

import (
	"context"
	"fmt"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/pure/event"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
)

// provisioning is a deployment of a terraform module being carried out.
type provisioning struct {
	chance
	tempo
	deploy       *deployment.Services
	deploymentID string
	leaseID      string
	// first says that nothing of the instance is there yet; broken that it cannot be applied; destroys that all that is
	// there is removed.
	first, broken, destroys bool
	// outputs are what it makes; nil for nothing.
	outputs  *strictjson.Node
	news     []event.Event
	reported bool
}

// step is a part of a provisioning; from and to are how long it takes, in seconds.
type step struct {
	stage, message string
	from, to       float64
}

// run plans and applies.
func (p *provisioning) run(ctx context.Context) error {
	added, changed := 0, 1+p.IntN(4)
	if p.first {
		added, changed = 3+p.IntN(12), 0
	}
	destroyed := 0
	if p.destroys {
		added, changed, destroyed = 0, 0, 3+p.IntN(12)
	}

	steps := []step{
		{"INIT", "Fetching the module and its providers.", 4, 12},
		{"PLAN", "Comparing what is there with what is wanted.", 10, 60},
		{"PLAN", fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", added, changed, destroyed), 1, 3},
		{"APPLY", "Applying the plan.", 30, 200},
	}

	for i, s := range steps {
		if err := p.take(ctx, i+1, len(steps)+1, s); err != nil {
			return err
		}
	}

	last := step{
		stage: "APPLY", message: fmt.Sprintf("Applied: %d added, %d changed, %d destroyed.", added, changed, destroyed),
	}
	if p.broken {
		last.message = "Error: the provider has refused a resource. What was there before is as it was."
	}
	p.tell(len(steps)+1, len(steps)+1, last)
	if err := p.report(ctx); err != nil {
		return err
	}

	end := execution.Completion{Outputs: p.outputs}
	if p.broken {
		end = execution.Completion{Failure: p.refused()}
	}
	_, err := p.deploy.Execution.End(ctx, p.deploymentID, p.leaseID, end)

	return err
}

// take tells of a step and lets its time pass.
func (p *provisioning) take(ctx context.Context, i, of int, s step) error {
	p.tell(i, of, s)
	if p.looks > 0 {
		if err := p.report(ctx); err != nil {
			return err
		}
	}
	return p.pass(ctx, s.from, s.to)
}

func (p *provisioning) tell(i, of int, s step) {
	p.news = append(p.news, event.Event{
		CurrentStep: new(int32(i)), TotalSteps: new(int32(of)), StartedAt: moment(p.now()),
		LifecycleStage: &s.stage, Message: &s.message,
	})
}

func (p *provisioning) report(ctx context.Context) error {
	in := execution.Report{Events: p.news, Logs: printed(p.news)}
	if !p.reported {
		in.ExternalDeploymentID = new("run-" + p.letters(16))
	}
	p.news, p.reported = nil, true
	_, _, err := p.deploy.Execution.Report(ctx, p.deploymentID, p.leaseID, in)
	return err
}

func (p *provisioning) refused() *fault.Data {
	return &fault.Data{
		Code: string(fault.DeploymentFailed), Message: "The plan could not be applied.",
		Description: "The provider has refused a resource. Correct the inputs, then deploy again.",
		Details: []fault.Section{{Title: "Errors", Render: fault.RenderList, Items: []string{
			"InvalidParameterValue: the value of an argument is not valid",
		}}},
		Metadata: map[string]any{"reason": "apply", "exitCode": 1},
	}
}
