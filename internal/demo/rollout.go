package demo

import (
	"context"
	"fmt"
	"time"

	"slipway/internal/deployment"
	"slipway/internal/ecs"
)

// rollout is a deployment of a service being carried out, as the runner sees it.
type rollout struct {
	d            *demo
	s            *service
	deploymentID string
	leaseID      string
	// arn is the cloud's service deployment, target the service revision that it moves to.
	arn, target string
	// external is the name that the cloud has for the deployment.
	external string
	stages   []stage
	// at is the stage that it is in, and since when.
	at    int
	since time.Time
	// news are the events that have not been reported.
	news      []ecs.Event
	pause     *ecs.AcceptedPauseControl
	listeners []ecs.ListenerState
}

// rollOut claims a deployment and carries it out as far as its ending says.
func (d *demo) rollOut(ctx context.Context, s *service, deploymentID string, e ending) error {
	leaseID, err := d.claim(ctx, deploymentID)
	if err != nil {
		return err
	}
	ctx = d.as(ctx, runner)
	r := &rollout{
		d: d, s: s, deploymentID: deploymentID, leaseID: leaseID, stages: courses[s.strategy],
		arn: s.arn("service-deployment", "/"+d.letters(21)), target: s.arn("service-revision", "/"+d.digits(19)),
		external: "ecs-svc/" + d.digits(19),
	}
	r.look(s.color)
	for i, stage := range r.stages {
		r.enter(i)
		if stage.name == e.stage {
			break
		}
		if stage.name == scaleUp {
			if err := r.report(ctx, "IN_PROGRESS", ""); err != nil {
				return err
			}
		}
	}
	return r.end(ctx, e)
}

// enter goes on to a stage.
func (r *rollout) enter(i int) {
	stage := r.stages[i]
	r.at, r.since = i, r.d.clock.Now()
	r.d.clock.pass(r.d.between(stage.from, stage.to))
	event := r.event(stage.message + ".")
	if stage.hook && r.s.hooks {
		event.HookID = new("hook-" + r.d.letters(12))
		if stage.name == testShift {
			r.pause = &ecs.AcceptedPauseControl{
				AcceptedAt: r.now(), HookID: event.HookID, EventStartedAt: event.StartedAt, LifecycleStage: event.LifecycleStage,
			}
		}
	}
	r.news = append(r.news, event)
	if stage.name == productionShift {
		r.look(1 - r.s.color)
	}
}

func (r *rollout) event(message string) ecs.Event {
	return ecs.Event{
		CurrentStep: new(int32(r.at + 1)), TotalSteps: new(int32(len(r.stages))),
		StartedAt: moment(r.since), DesiredCount: &r.s.replicas,
		LifecycleStage: &r.stages[r.at].name, Message: &message,
	}
}

// end reports the last that is seen of the deployment and ends it, unless it goes on.
func (r *rollout) end(ctx context.Context, e ending) error {
	if e.failure != nil {
		r.since = r.d.clock.Now()
		r.d.clock.pass(r.d.between(60, 200))
		r.news = append(r.news, r.event("Going back to the revision before: "+e.reason))
		if len(r.listeners) > 1 {
			r.look(r.s.color)
		}
	}
	if err := r.report(ctx, e.status, e.reason); err != nil {
		return err
	}
	var err error
	switch {
	case e.succeeds():
		r.s.live, r.s.liveDeployment = r.target, r.external
		if r.s.strategy == blue {
			r.s.color = 1 - r.s.color
		}
		_, err = r.d.Deploy.Complete(ctx, r.deploymentID, r.leaseID, nil)
	case e.failure != nil:
		_, err = r.d.Deploy.Complete(ctx, r.deploymentID, r.leaseID, e.failure(r))
	case e.canceled:
		_, err = r.d.Deploy.Cancel(r.d.as(ctx, developer), r.deploymentID)
	}
	return err
}

// report tells what is new.
func (r *rollout) report(ctx context.Context, status, reason string) error {
	record := fmt.Sprintf("%s-%s", r.s.name, r.arn[len(r.arn)-8:])
	data := ecs.Data{
		Type: ecs.Type, DetectedVia: new("EVENTBRIDGE"), ECSModuleDeploymentID: &record,
		AcceptedPauseControl: r.pause, ELBListenerState: r.listeners, Events: r.news,
		ServiceDeploymentARN: &r.arn, ServiceDeploymentState: r.state(status, reason),
	}
	if status == "ROLLBACK_SUCCESSFUL" && r.s.live != "" {
		data.RevertRequestedAt = moment(r.since)
		data.RevertExternalDeploymentID = &r.s.liveDeployment
		data.RevertServiceDeploymentARN = &r.arn
	}
	r.news = nil
	in := deployment.Report{Data: data.Encode(), ExternalDeploymentID: &r.external}
	_, _, err := r.d.Deploy.Report(ctx, r.deploymentID, r.leaseID, in)
	return err
}

func (r *rollout) now() *string { return moment(r.d.clock.Now()) }

// moment is a time as the cloud writes it.
func moment(t time.Time) *string { return new(t.UTC().Format("2006-01-02T15:04:05.000Z")) }
