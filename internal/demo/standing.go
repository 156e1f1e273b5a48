package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"slipway/internal/base/fault"
	"slipway/internal/base/strictjson"
	"slipway/internal/data/record"
	"slipway/internal/pure/ecs"
	"slipway/internal/pure/release"
	"slipway/internal/service/deployment/execution"
)

// rollOut carries out a deployment of a container service, as the cloud has that now.
func (j *job) rollOut(
	ctx context.Context, drawn chance, instance *record.ModuleInstance, content release.Content,
) error {
	s, err := j.service(ctx, instance, content)
	if err != nil {
		return err
	}
	data, err := j.deployment.Data.Data()
	if err != nil {
		return err
	}

	if data.ServiceARN == nil {
		in := execution.Report{Data: s.beforehand(), ResourceARN: new(s.arn("service", "")), ResourceName: new(s.family())}
		if _, _, err := j.Deploy.Execution.Report(ctx, j.deployment.ID, j.leaseID, in); err != nil {
			return err
		}
	}

	e := succeeded
	if broken(content) {
		e = unhealthy
	}
	r := newRollout(drawn, j.waiting(), j.Deploy, s, j.deployment.ID, j.leaseID)
	if !j.underway {
		return r.run(ctx, 0, e)
	}

	r.resume(data, *j.deployment.ExternalDeploymentID)
	if j.followed {
		return j.keepReporting(ctx, r)
	}
	if err := r.stay(ctx); err != nil {
		return err
	}
	return r.run(ctx, r.at+1, e)
}

// keepReporting stays in the stage of a deployment and tells of it again and again, until ctx ends or the lease is
// lost. A report that fails is told by the next.
func (j *job) keepReporting(ctx context.Context, r *rollout) error {
	every := max(time.Duration(float64(watchEvery)/j.pace), watchLeast)
	for {
		r.since = r.now()
		requests := 2_000 + r.IntN(1_000)
		r.news = append(r.news, r.event(fmt.Sprintf("No alarm: %d requests, %d of them failed.", requests, r.IntN(4))))
		err := r.report(ctx, "IN_PROGRESS", "")
		if fault.Is(err, fault.DeploymentLeaseLost) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			j.log.WarnContext(ctx, "the demo's runner cannot report; trying again", "deployment", j.deployment.ID, "error", err)
		}
		if err := j.waitWithLease(ctx, every); err != nil {
			return err
		}
	}
}

// resume takes a deployment over that the seeding has left in one of its stages.
func (r *rollout) resume(data *ecs.Data, external string) {
	state := data.ServiceDeploymentState
	r.arn, r.target, r.external = *state.ServiceDeploymentARN, *state.TargetServiceRevision.ServiceRevisionARN, external
	r.listeners, r.pause = data.ELBListenerState, data.AcceptedPauseControl
	r.at = slices.IndexFunc(r.stages, func(s stage) bool { return s.name == *state.LifecycleStage })
	r.moved = r.stages[r.at].share
}

// makes returns what a deployment of the instance makes.
func (j *job) makes(
	ctx context.Context, instance *record.ModuleInstance, content release.Content,
) (*strictjson.Node, error) {
	s, err := j.service(ctx, instance, content)
	if err != nil {
		return nil, err
	}
	return made(s.Module, s.family())
}

// service is the instance as the cloud has it: what the release wants of it, and what is live.
func (j *job) service(ctx context.Context, instance *record.ModuleInstance, content release.Content) (*service, error) {
	definition, err := j.Catalog.Definition(ctx, instance.ModuleDefinitionID)
	if err != nil {
		return nil, err
	}
	project, err := j.Workspace.Project(ctx, instance.ProjectID)
	if err != nil {
		return nil, err
	}

	environment, err := j.Workspace.Environment(ctx, instance.EnvironmentID)
	if err != nil {
		return nil, err
	}
	in := instanceFile{Name: instance.Name, Module: definition.Type}
	if err := json.Unmarshal(content.Inputs, &in.Inputs); err != nil {
		return nil, err
	}

	s := newService(instance.ID, project.Slug, environment.Slug, in)
	if instance.LiveDeploymentID == nil {
		return s, nil
	}
	live, err := j.Deploy.View.Deployment(ctx, *instance.LiveDeploymentID)
	if err != nil {
		return nil, err
	}
	if err := s.follows(live); err != nil {
		return nil, err
	}
	return s, nil
}

// follows says which deployment has the traffic. A release that names no strategy is rolled out as that was.
func (s *service) follows(live *record.Deployment) error {
	data, err := live.Data.Data()
	if err != nil || data == nil || data.ServiceDeploymentState == nil || live.ExternalDeploymentID == nil {
		return err
	}

	state := data.ServiceDeploymentState
	if _, named := s.Inputs["strategy"]; !named && state.Strategy != nil && courses[*state.Strategy] != nil {
		s.strategy = *state.Strategy
	}

	if state.TargetServiceRevision != nil && state.TargetServiceRevision.ServiceRevisionARN != nil {
		s.live, s.liveDeployment = *state.TargetServiceRevision.ServiceRevisionARN, *live.ExternalDeploymentID
		s.liveARN = *state.ServiceDeploymentARN
	}

	if n := len(data.ELBListenerState); n > 0 {
		for _, rule := range data.ELBListenerState[n-1].Rules {
			if rule.TargetGroupName != nil && strings.HasSuffix(*rule.TargetGroupName, "-green") {
				s.color = 1
			}
		}
	}

	return nil
}
