package main

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// loadBalancers returns where the tasks get their requests from: what the service has, without what Slipway has set
// before, and what the inputs name. It is never nil.
func (in *wanted) loadBalancers(
	live *types.Service, before sets, container string, strategy types.DeploymentStrategy,
) []types.LoadBalancer {
	all, placed := []types.LoadBalancer{}, in.TargetGroupARN == ""
	for _, b := range live.LoadBalancers {
		switch {
		case in.TargetGroupARN != "" && leadsTo(&b, in.TargetGroupARN):
			if !placed {
				all, placed = append(all, in.loadBalancer(&b, container, strategy)), true
			}
		case before.targetGroup() == "" || !leadsTo(&b, before.targetGroup()):
			all = append(all, b)
		}
	}
	if !placed {
		all = append(all, in.loadBalancer(&types.LoadBalancer{}, container, strategy))
	}
	return all
}

// leadsTo reports whether a load balancer sends requests to a target group, now or after a shift.
func leadsTo(b *types.LoadBalancer, group string) bool {
	return text(b.TargetGroupArn) == group || b.AdvancedConfiguration != nil &&
		text(b.AdvancedConfiguration.AlternateTargetGroupArn) == group
}

// loadBalancer returns what the inputs name, beside what there is of it.
func (in *wanted) loadBalancer(
	live *types.LoadBalancer, container string, strategy types.DeploymentStrategy,
) types.LoadBalancer {
	b := types.LoadBalancer{
		ContainerName: &container, ContainerPort: live.ContainerPort, TargetGroupArn: &in.TargetGroupARN,
	}
	if in.ContainerPort > 0 {
		b.ContainerPort = &in.ContainerPort
	}
	if strategy == types.DeploymentStrategyRolling {
		return b
	}

	b.AdvancedConfiguration = &types.AdvancedConfiguration{}
	if live.AdvancedConfiguration != nil {
		*b.AdvancedConfiguration = *live.AdvancedConfiguration
		if text(live.AdvancedConfiguration.AlternateTargetGroupArn) == in.TargetGroupARN { // they have changed places
			b.AdvancedConfiguration.AlternateTargetGroupArn = live.TargetGroupArn
		}
	}

	for _, named := range []struct {
		to    **string
		value string
	}{
		{&b.AdvancedConfiguration.AlternateTargetGroupArn, in.AlternateTargetGroupARN},
		{&b.AdvancedConfiguration.ProductionListenerRule, in.ListenerRuleARN},
		{&b.AdvancedConfiguration.TestListenerRule, in.TestListenerRuleARN},
		{&b.AdvancedConfiguration.RoleArn, in.BalancerRoleARN},
	} {
		if named.value != "" {
			*named.to = &named.value
		}
	}

	return b
}

// targetGroupsOf returns the target groups of load balancers, each once.
func targetGroupsOf(balancers []types.LoadBalancer) []string {
	all := []string{}
	for _, b := range balancers {
		groups := []string{text(b.TargetGroupArn)}
		if b.AdvancedConfiguration != nil {
			groups = append(groups, text(b.AdvancedConfiguration.AlternateTargetGroupArn))
		}
		for _, arn := range groups {
			if arn != "" && !slices.Contains(all, arn) {
				all = append(all, arn)
			}
		}
	}
	return all
}

// balancerOf returns the load balancer of a service that the inputs mean, nil for none: the one that they name, or the
// first.
func (in *wanted) balancerOf(live *types.Service) *types.LoadBalancer {
	at := slices.IndexFunc(live.LoadBalancers, func(b types.LoadBalancer) bool { return leadsTo(&b, in.TargetGroupARN) })
	if at < 0 && len(live.LoadBalancers) == 0 {
		return nil
	}
	return &live.LoadBalancers[max(at, 0)]
}

// container returns the name of the container that gets the requests. containers are those of the task definition, nil
// while it is made of the inputs.
func (in *wanted) container(live *types.Service, containers []types.ContainerDefinition) string {
	balancer := in.balancerOf(live)
	switch {
	case in.ContainerName != "":
		return in.ContainerName
	case balancer != nil:
		return text(balancer.ContainerName)
	case len(containers) == 1:
		return text(containers[0].Name)
	default:
		return "app"
	}
}

// port returns the port of that container, 0 for none.
func (in *wanted) port(live *types.Service) int32 {
	if balancer := in.balancerOf(live); in.ContainerPort == 0 && balancer != nil && balancer.ContainerPort != nil {
		return *balancer.ContainerPort
	}
	return in.ContainerPort
}
