package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// The statuses of a service that are not ACTIVE.
const (
	draining = "DRAINING"
	inactive = "INACTIVE"
)

// service returns the service with its tags, nil if there is none. One look that misses it is not believed, unless an
// earlier one has found that there is none.
func (w *worker) service(ctx context.Context) (*types.Service, error) {
	found, ended, err := w.lookForService(ctx)
	if err == nil && found == nil && !ended && !w.absent {
		w.wait(ctx, true)
		found, _, err = w.lookForService(ctx)
	}
	w.absent = err == nil && found == nil
	return found, err
}

// lookForService returns the service with its tags, nil if ECS does not show it or it has ended.
func (w *worker) lookForService(ctx context.Context) (found *types.Service, ended bool, err error) {
	out, err := w.ecs.DescribeServices(ctx, &ecs.DescribeServicesInput{
		Cluster: &w.wants().ClusterARN, Services: []string{w.wants().ServiceName},
		Include: []types.ServiceField{types.ServiceFieldTags},
	})
	if err != nil {
		return nil, false, explain(err)
	}

	for _, failure := range out.Failures {
		if reason := text(failure.Reason); reason != "MISSING" {
			return nil, false, fmt.Errorf("the service %s cannot be described: %s", w.wants().ServiceName, reason)
		}
	}

	if len(out.Services) == 0 {
		return nil, false, nil
	}
	if text(out.Services[0].Status) == inactive {
		return nil, true, nil
	}
	return &out.Services[0], false, nil
}

// apply brings the service to what the release says, and follows that to its end.
func (w *worker) apply(ctx context.Context) error {
	service, err := w.mayChange(ctx)
	if err != nil {
		return err
	}
	draft, err := w.draft(ctx, service)
	if err != nil {
		return err
	}
	if w.plan, err = w.wants().plan(service, draft.task()); err != nil {
		return wrongInput{err}
	}

	w.print.steps = stepsOf(w.plan.configuration.Strategy)
	w.print.begin(service, w)
	w.print.step("TASK_DEFINITION", "Registering the task definition.")
	definition, err := w.taskDefinition(ctx, draft)
	if err != nil {
		return err
	}

	w.print.taskDefinition(definition, w.Release.Artifact)
	w.print.step("SERVICE", "Updating the service.")
	started, err := w.start(ctx, definition)
	if err != nil {
		return err
	}
	if err := w.follow(ctx, started); err != nil {
		return err
	}
	return w.print.outputs(w, definition)
}

// start returns the service deployment of this deployment, which it begins if that has not been done yet. Before that
// it reports what the listeners do.
func (w *worker) start(ctx context.Context, definition *types.TaskDefinition) (*types.ServiceDeploymentBrief, error) {
	service, err := w.drained(ctx)
	if err != nil {
		return nil, err
	}
	// It may have changed in the meantime.
	if w.plan, err = w.wants().plan(service, taskOf(definition)); err != nil {
		return nil, err
	}
	if service != nil {
		return w.change(ctx, service, definition)
	}
	if err := w.listenersBefore(ctx); err != nil {
		return nil, err
	}

	service, err = w.create(ctx, definition)
	if err == nil {
		return w.await(ctx, service, definition, nil)
	}

	// Somebody may have made it in the meantime: then it is theirs, or that of this very deployment.
	there, lookErr := w.mayChange(ctx)
	switch {
	case lookErr != nil:
		return nil, fmt.Errorf("%w; and then: %w", err, lookErr)
	case there == nil:
		return nil, err
	}

	if w.plan, err = w.wants().plan(there, taskOf(definition)); err != nil {
		return nil, err
	}
	return w.change(ctx, there, definition)
}

// change is start for a service that exists.
func (w *worker) change(
	ctx context.Context, service *types.Service, definition *types.TaskDefinition,
) (*types.ServiceDeploymentBrief, error) {
	for _, note := range w.plan.notes(service, definition) {
		w.print.message(note)
	}

	service, err := w.claim(ctx, service)
	if err != nil {
		return nil, err
	}
	if tagOf(service.Tags, tagSince) == justCreated { // there is nothing to update
		return w.await(ctx, service, definition, nil)
	}

	found, err := visibly(
		ctx, w, func() (*types.ServiceDeploymentBrief, error) { return w.ownDeployment(ctx, service, definition) },
	)
	if err != nil {
		return nil, err
	}

	if found == nil {
		if err := w.listenersBefore(ctx); err != nil {
			return nil, err
		}
		if found, err = w.update(ctx, service, definition); err != nil {
			return nil, err
		}
	}

	w.note(ctx, service)
	return w.await(ctx, service, definition, found)
}

// drained returns the service, after the end of one that is being deleted.
func (w *worker) drained(ctx context.Context) (*types.Service, error) {
	for deadline := w.deadline(); ; {
		service, err := w.beforeChange(ctx)
		if err != nil || service == nil || text(service.Status) != draining {
			return service, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf(
				"the service %s is still %s after %d minutes", text(service.ServiceArn), draining, w.wants().TimeoutMinutes,
			)
		}
		w.wait(ctx, false)
	}
}

// justCreated is the value of tagSince of a service that this deployment has created: its first service deployment is
// that of this deployment.
const justCreated = "created"

// tags are those that say whose a service is.
func (w *worker) tags(since string) []types.Tag {
	d := w.Deployment
	return []types.Tag{
		tag(tagInstance, d.ModuleInstanceID), tag(tagDeployment, d.ID), tag(tagFence, string(d.Fence)), tag(tagSince, since),
	}
}

// create creates the service. The client token makes it one, however often it is sent.
func (w *worker) create(ctx context.Context, definition *types.TaskDefinition) (*types.Service, error) {
	w.absent = false // from now on it may be there
	in, p, token := w.wants(), w.plan, sha256.Sum256([]byte(w.Deployment.ID))
	tags := append(w.tags(justCreated), tag(tagCount, p.count.tag), tag(tagSets, p.sets.String()))
	launchType := p.launchType
	if len(p.capacity) > 0 {
		launchType = ""
	}

	out, err := w.ecs.CreateService(ctx, &ecs.CreateServiceInput{
		ServiceName: &in.ServiceName, Cluster: &in.ClusterARN, ClientToken: aws.String(hex.EncodeToString(token[:16])),
		LaunchType: launchType, CapacityProviderStrategy: p.capacity,
		TaskDefinition: definition.TaskDefinitionArn, DesiredCount: p.count.set,
		DeploymentController:    &types.DeploymentController{Type: types.DeploymentControllerTypeEcs},
		DeploymentConfiguration: p.configuration, LoadBalancers: p.balancers, NetworkConfiguration: p.network,
		HealthCheckGracePeriodSeconds: p.grace, Tags: tags,
		PropagateTags: types.PropagateTagsService, EnableECSManagedTags: true,
	})
	if err != nil {
		return nil, explain(err)
	}

	service := out.Service
	service.Tags = tags
	return service, nil
}

// claim writes into the tags of the service that this deployment changes it now, and from when on, unless they say so.
func (w *worker) claim(ctx context.Context, service *types.Service) (*types.Service, error) {
	d, since := w.Deployment, tagOf(service.Tags, tagSince)
	if tagOf(service.Tags, tagDeployment) != d.ID {
		last, err := visibly(ctx, w, func() (string, error) { return w.lastDeployment(ctx, service) })
		if err != nil {
			return nil, err
		}
		since = last
	} else if tagOf(service.Tags, tagFence) == string(d.Fence) {
		return service, nil
	}

	if _, err := w.beforeChange(ctx); err != nil {
		return nil, err
	}
	tags := append(w.tags(since), tag(tagCount, w.plan.count.claimed()))
	if err := w.tag(ctx, service, tags); err != nil {
		return nil, err
	}

	claimed := *service
	claimed.Tags = withTags(service.Tags, tags)
	return &claimed, nil
}

// note writes into the tags of the service what this deployment has set, once it has. If it cannot, the deployment goes
// on, and the next one sets the count of its inputs.
func (w *worker) note(ctx context.Context, service *types.Service) {
	tags := []types.Tag{tag(tagCount, w.plan.count.tag), tag(tagSets, w.plan.sets.String())}
	if !slices.ContainsFunc(tags, func(t types.Tag) bool { return tagOf(service.Tags, *t.Key) != *t.Value }) {
		return
	}
	_, err := w.mayChange(ctx)
	if err == nil {
		err = w.tag(ctx, service, tags)
	}
	if err != nil {
		w.print.message("What this deployment has set cannot be written into the tags of the service: " + err.Error())
	}
}

// tag writes tags of the service beside those that it has.
func (w *worker) tag(ctx context.Context, service *types.Service, tags []types.Tag) error {
	_, err := visibly(ctx, w, func() (*ecs.TagResourceOutput, error) {
		return w.ecs.TagResource(ctx, &ecs.TagResourceInput{ResourceArn: service.ServiceArn, Tags: tags})
	})
	return explain(err)
}

// update updates the service, and returns the service deployment if it had begun already.
func (w *worker) update(
	ctx context.Context, service *types.Service, definition *types.TaskDefinition,
) (*types.ServiceDeploymentBrief, error) {
	if _, err := w.beforeChange(ctx); err != nil {
		return nil, err
	}
	look := func() (*types.ServiceDeploymentBrief, error) { return w.ownDeployment(ctx, service, definition) }
	return once(ctx, w, look, func() (*types.ServiceDeploymentBrief, error) {
		_, err := visibly(ctx, w, func() (*ecs.UpdateServiceOutput, error) {
			return w.ecs.UpdateService(ctx, w.plan.update(service, definition), onlyRefusals)
		})
		return nil, err
	})
}

// update returns the request that makes the service what the plan says.
func (p *plan) update(service *types.Service, definition *types.TaskDefinition) *ecs.UpdateServiceInput {
	in := &ecs.UpdateServiceInput{
		Service: service.ServiceArn, Cluster: service.ClusterArn,
		TaskDefinition: definition.TaskDefinitionArn, DesiredCount: p.count.set,
		CapacityProviderStrategy: p.capacity, DeploymentConfiguration: p.configuration, NetworkConfiguration: p.network,
		HealthCheckGracePeriodSeconds: p.grace,
		// Without a change of its own ECS begins no service deployment, and a redeploy has none.
		ForceNewDeployment: text(service.TaskDefinition) == text(definition.TaskDefinitionArn),
	}
	if !reflect.DeepEqual(p.balancers, service.LoadBalancers) {
		in.LoadBalancers = p.balancers
	}
	return in
}
