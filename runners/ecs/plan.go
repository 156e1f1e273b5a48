package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// task is the part of a task definition on which the service depends.
type task struct {
	containers []types.ContainerDefinition
	network    types.NetworkMode
}

// plan is a service as a deployment makes it: as the inputs say, and otherwise as it is.
type plan struct {
	count         desiredCount
	launchType    types.LaunchType
	capacity      []types.CapacityProviderStrategyItem // nil for what there is
	configuration *types.DeploymentConfiguration
	balancers     []types.LoadBalancer
	network       *types.NetworkConfiguration
	grace         *int32 // nil for what there is
	sets          sets
	// takesOver is whether the service is not of Slipway yet.
	takesOver bool
	// ignored is the launch type that the inputs name for a service whose capacity providers are kept, "" for none.
	ignored string
}

// newGrace is for how many seconds the health checks of a load balancer do not count at first, of a new service.
const newGrace = 60

// plan compares the inputs with the service, nil for none. The error says everything for which they do not fit.
func (in *wanted) plan(live *types.Service, t task) (*plan, error) {
	p := &plan{count: in.count(live), sets: in.sets(), takesOver: live != nil && tagOf(live.Tags, tagInstance) == ""}
	if live == nil {
		live = &types.Service{}
	}
	before := sets(strings.Fields(tagOf(live.Tags, tagSets)))
	p.launchType, p.capacity = in.launchType(live), in.capacity(before)
	if p.capacity == nil && len(live.CapacityProviderStrategy) > 0 {
		p.ignored = in.LaunchType
	}

	p.configuration = in.deploymentConfiguration(live, before)
	p.balancers = in.loadBalancers(live, before, in.container(live, t.containers), p.configuration.Strategy)
	p.network = in.network(live, t.network)
	if len(p.balancers) > 0 {
		p.grace = in.GraceSeconds
		if p.grace == nil && live.ServiceArn == nil {
			p.grace = aws.Int32(newGrace)
		}
	}

	return p, in.checkPlan(p, live, t)
}

// checkPlan returns everything for which the inputs do not fit the service and the task definition.
func (in *wanted) checkPlan(p *plan, live *types.Service, t task) error {
	c := &checker{}
	c.need(live.LaunchType == "" || in.LaunchType == "" || in.LaunchType == string(live.LaunchType), at("launch_type"),
		"must be %s as it is for the service %s, found %s: ECS cannot change it", live.LaunchType, text(live.ServiceArn),
		in.LaunchType)
	c.need(
		p.network == nil || len(p.network.AwsvpcConfiguration.Subnets) > 0, at("subnet_ids"),
		"must have a subnet for the tasks",
	)
	others := slices.DeleteFunc(
		slices.Clone(live.Tags), func(t types.Tag) bool { return strings.HasPrefix(text(t.Key), "slipway:") },
	)

	c.need(len(others) <= maxTags-ourTags, at("service_name"), "must be that of a service with at most %d tags, because "+
		"Slipway adds %d, found %d",
		maxTags-ourTags, ourTags, len(others))
	named := slices.ContainsFunc(
		t.containers, func(d types.ContainerDefinition) bool { return text(d.Name) == in.ContainerName },
	)
	c.need(in.ContainerName == "" || named, at(
		"container_name",
	), "must be a container of the task definition, which has %s, found %q",
		namesOf(t.containers), in.ContainerName)

	for i := range p.balancers {
		c.checkTarget(&p.balancers[i], t, in.ContainerName != "" && !named)
	}

	if p.configuration.Strategy != types.DeploymentStrategyRolling {
		c.checkShift(p)
	}
	return errors.Join(c.wrong...)
}

// checkTarget checks that the task definition has the container and the port to which a load balancer sends requests.
// That the container is missing may be said already.
func (c *checker) checkTarget(b *types.LoadBalancer, t task, said bool) {
	if b.ContainerPort == nil {
		c.need(false, at("container_port"), "must be there with a target group")
		return
	}

	name, port := text(b.ContainerName), *b.ContainerPort
	i := slices.IndexFunc(t.containers, func(d types.ContainerDefinition) bool { return text(d.Name) == name })
	if i < 0 {
		c.need(said, at("container_name"), "must be a container of the task definition, which has %s: requests of %s go to "+
			"%q",
			namesOf(t.containers), text(b.TargetGroupArn), name)
		return
	}

	mapped := slices.ContainsFunc(t.containers[i].PortMappings, func(m types.PortMapping) bool {
		// ECS itself looks into a range
		return m.ContainerPort != nil && *m.ContainerPort == port || m.ContainerPortRange != nil
	})
	c.need(mapped,
		at("container_port"),
		"must be a port of the container %s: requests of %s go to %d, which the task definition does not map",
		name, text(b.TargetGroupArn), port)
}

func namesOf(containers []types.ContainerDefinition) string {
	var names []string
	for _, d := range containers {
		names = append(names, text(d.Name))
	}
	return strings.Join(names, ", ")
}

// checkShift checks that there is by what traffic can be shifted.
func (c *checker) checkShift(p *plan) {
	advanced := &types.AdvancedConfiguration{}
	group := ""
	for _, b := range p.balancers {
		if b.AdvancedConfiguration != nil {
			advanced, group = b.AdvancedConfiguration, text(b.TargetGroupArn)
		}
	}
	for _, needed := range []struct{ id, value string }{
		{"target_group_arn", group}, {"alternate_target_group_arn", text(advanced.AlternateTargetGroupArn)},
		{"listener_rule_arn", text(advanced.ProductionListenerRule)}, {"balancer_role_arn", text(advanced.RoleArn)},
	} {
		c.need(needed.value != "", at(needed.id), "must be there for the strategy %s", p.configuration.Strategy)
	}
}
