package demo

import (
	"context"
	"fmt"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/event"
	"slipway/internal/service/deployment"
	"slipway/internal/service/deployment/execution"
)

// rollout is a deployment of a service being carried out, as the runner sees it.
type rollout struct {
	chance
	tempo
	deploy       *deployment.Services
	s            *service
	deploymentID string
	leaseID      string
	// arn is the cloud's service deployment, target the service revision that it moves to.
	arn, target string
	// external is the name that the cloud has for the deployment.
	external string
	stages   []stage
	// at is the stage that it is in, since when, and how far tasks and traffic have moved.
	at    int
	since time.Time
	moved share
	// news are the events that have not been reported.
	news      []event.Event
	pause     *ecs.AcceptedPauseControl
	listeners []ecs.ListenerState
}

// newRollout is a deployment at its very beginning.
func newRollout(c chance, t tempo, deploy *deployment.Services, s *service, deploymentID, leaseID string) *rollout {
	r := &rollout{
		chance: c, tempo: t, deploy: deploy, s: s, deploymentID: deploymentID, leaseID: leaseID, stages: courses[s.strategy],
		arn: s.arn("service-deployment", "/"+c.letters(21)), target: s.arn("service-revision", "/"+c.digits(19)),
		external: "ecs-svc/" + c.digits(19),
	}
	r.look(s.color)
	return r
}

// rollOut claims a deployment and carries it out as far as its ending says.
func (d *demo) rollOut(ctx context.Context, s *service, deploymentID string, e ending) error {
	leaseID, err := d.claim(ctx, deploymentID)
	if err != nil {
		return err
	}
	r := newRollout(d.chance, d.leaping(), d.Deploy, s, deploymentID, leaseID)
	if err := r.run(d.as(ctx, runner), 0, e); err != nil {
		return err
	}
	if !e.canceled {
		return nil
	}
	if _, err := d.Deploy.Execution.Cancel(d.as(ctx, developer), deploymentID, nil); err != nil {
		return err
	}
	_, err = d.Deploy.Execution.End(
		d.as(ctx, runner), deploymentID, leaseID, execution.Completion{Failure: lastWords(e.reason), Canceled: true},
	)
	return err
}

// lastWords are what is told of a deployment that was canceled.
func lastWords(message string) *fault.Data {
	return &fault.Data{Code: string(fault.DeploymentFailed), Message: message}
}

// run goes through the stages from the first on, as far as the ending says, and ends the deployment.
func (r *rollout) run(ctx context.Context, first int, e ending) error {
	for i := first; i < len(r.stages); i++ {
		if err := r.enter(ctx, i); err != nil {
			return err
		}
		if r.stages[i].name == e.stage {
			break
		}
		if r.looks == 0 && r.stages[i].name == scaleUp {
			if err := r.report(ctx, "IN_PROGRESS", ""); err != nil {
				return err
			}
		}
	}
	return r.end(ctx, e)
}

// enter goes on to a stage and stays until it is over.
func (r *rollout) enter(ctx context.Context, i int) error {
	stage := r.stages[i]
	r.at, r.since = i, r.now()
	event := r.event(stage.message + ".")
	hooked := stage.hook && r.s.hooks
	if hooked {
		event.HookID = new("hook-" + r.letters(12))
	}

	r.news = append(r.news, event)
	if err := r.stay(ctx); err != nil {
		return err
	}

	if hooked && stage.name == testShift {
		r.pause = &ecs.AcceptedPauseControl{
			AcceptedAt: r.moment(), HookID: event.HookID, EventStartedAt: event.StartedAt, LifecycleStage: event.LifecycleStage,
		}
	}

	if stage.name == productionShift {
		r.look(1 - r.s.color)
	}
	return nil
}

// stay lets the time of the stage pass. Where somebody watches, what moves is reported on its way.
func (r *rollout) stay(ctx context.Context) error {
	stage, from := r.stages[r.at], r.moved
	looks := r.looks
	if from == stage.share {
		looks = min(looks, 1)
	}

	for part := range looks {
		r.moved = from.towards(stage.share, part, looks)
		if err := r.report(ctx, "IN_PROGRESS", ""); err != nil {
			return err
		}
		if err := r.pass(ctx, stage.from/float64(looks), stage.to/float64(looks)); err != nil {
			return err
		}
	}

	r.moved = stage.share
	if looks > 0 {
		return nil
	}
	return r.pass(ctx, stage.from, stage.to)
}

func (r *rollout) event(message string) event.Event {
	return event.Event{
		CurrentStep: new(int32(r.at + 1)), TotalSteps: new(int32(len(r.stages))),
		StartedAt: moment(r.since), DesiredCount: &r.s.replicas,
		LifecycleStage: &r.stages[r.at].name, Message: &message,
	}
}

// end reports the last that is seen of the deployment and ends it, unless it goes on.
func (r *rollout) end(ctx context.Context, e ending) error {
	if e.failure != nil {
		if err := r.goBack(ctx, e.reason); err != nil {
			return err
		}
	}

	if err := r.report(ctx, e.status, e.reason); err != nil {
		return err
	}
	var err error

	switch {
	case e.succeeds():
		r.s.live, r.s.liveDeployment, r.s.liveARN = r.target, r.external, r.arn
		if r.s.strategy == blue {
			r.s.color = 1 - r.s.color
		}
		var end execution.Completion
		if end.Outputs, err = made(r.s.Module, r.s.family()); err == nil {
			_, err = r.deploy.Execution.End(ctx, r.deploymentID, r.leaseID, end)
		}
	case e.failure != nil:
		_, err = r.deploy.Execution.End(ctx, r.deploymentID, r.leaseID, execution.Completion{Failure: e.failure(r)})
	}

	return err
}

// goBack undoes what was done of the deployment.
func (r *rollout) goBack(ctx context.Context, reason string) error {
	r.since = r.now()
	r.news = append(r.news, r.event("Going back to the revision before: "+reason))
	if r.looks > 0 {
		if err := r.report(ctx, "ROLLBACK_IN_PROGRESS", reason); err != nil {
			return err
		}
	}
	if err := r.pass(ctx, 60, 200); err != nil {
		return err
	}
	if len(r.listeners) > 1 {
		r.look(r.s.color)
	}
	return nil
}

// report tells what is new.
func (r *rollout) report(ctx context.Context, status, reason string) error {
	record := fmt.Sprintf("%s-%s", r.s.Name, r.arn[len(r.arn)-8:])
	data := ecs.Data{
		Type: ecs.Type, DetectedVia: new("EVENTBRIDGE"), ECSModuleDeploymentID: &record,
		AcceptedPauseControl: r.pause, ELBListenerState: r.listeners, Events: r.news,
		ServiceDeploymentARN: &r.arn, ServiceDeploymentState: r.state(status, reason),
	}
	if status == "ROLLBACK_SUCCESSFUL" && r.s.live != "" {
		data.RevertRequestedAt = moment(r.since)
		data.RevertExternalDeploymentID = &r.s.liveDeployment
		data.RevertServiceDeploymentARN = &r.s.liveARN
	}
	in := execution.Report{Data: tree(&data), ExternalDeploymentID: &r.external, Logs: printed(r.news)}
	r.news = nil
	_, _, err := r.deploy.Execution.Report(ctx, r.deploymentID, r.leaseID, in)
	return err
}

func (r *rollout) moment() *string { return moment(r.now()) }

// moment is a time as the cloud writes it.
func moment(t time.Time) *string { return new(t.UTC().Format("2006-01-02T15:04:05.000Z")) }
