package main

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// network returns in which subnets the tasks run, nil where their network is not their own.
func (in *wanted) network(definition *types.TaskDefinition) *types.NetworkConfiguration {
	if definition.NetworkMode != types.NetworkModeAwsvpc {
		return nil
	}
	public := types.AssignPublicIpDisabled
	if in.AssignPublicIP {
		public = types.AssignPublicIpEnabled
	}
	return &types.NetworkConfiguration{AwsvpcConfiguration: &types.AwsVpcConfiguration{
		Subnets: in.SubnetIDs, SecurityGroups: in.SecurityGroupIDs, AssignPublicIp: public,
	}}
}

// loadBalancers returns where the tasks get their requests from. It is never nil, so that a service that had some loses them.
func (in *wanted) loadBalancers() []types.LoadBalancer {
	if in.TargetGroupARN == "" {
		return []types.LoadBalancer{}
	}
	balancer := types.LoadBalancer{ContainerName: &in.ContainerName, ContainerPort: &in.ContainerPort, TargetGroupArn: &in.TargetGroupARN}
	if in.Strategy != rolling {
		balancer.AdvancedConfiguration = &types.AdvancedConfiguration{
			AlternateTargetGroupArn: &in.AlternateTargetGroupARN, ProductionListenerRule: &in.ListenerRuleARN,
			TestListenerRule: orNil(in.TestListenerRuleARN), RoleArn: &in.BalancerRoleARN,
		}
	}
	return []types.LoadBalancer{balancer}
}

// targetGroups returns the target groups of the service.
func (in *wanted) targetGroups() []string {
	return slices.DeleteFunc([]string{in.TargetGroupARN, in.AlternateTargetGroupARN}, func(arn string) bool { return arn == "" })
}

// grace returns how long health checks of a load balancer do not count, nil without one.
func (in *wanted) grace() *int32 {
	if in.TargetGroupARN == "" {
		return nil
	}
	return in.GraceSeconds
}

func (in *wanted) deploymentConfiguration() *types.DeploymentConfiguration {
	c := &types.DeploymentConfiguration{
		Strategy: types.DeploymentStrategy(in.Strategy), LifecycleHooks: in.lifecycleHooks(),
		MinimumHealthyPercent: in.MinimumHealthyPercent, MaximumPercent: in.MaximumPercent,
	}
	switch in.Strategy {
	case rolling:
		c.DeploymentCircuitBreaker = &types.DeploymentCircuitBreaker{Enable: true, Rollback: true}
		return c
	case canary:
		c.CanaryConfiguration = &types.CanaryConfiguration{CanaryPercent: aws.Float64(float64(in.CanaryPercent)), CanaryBakeTimeInMinutes: &in.CanaryMinutes}
	case linear:
		c.LinearConfiguration = &types.LinearConfiguration{StepPercent: aws.Float64(float64(in.StepPercent)), StepBakeTimeInMinutes: &in.StepMinutes}
	}
	c.BakeTimeInMinutes = &in.BakeMinutes
	return c
}

func (in *wanted) lifecycleHooks() []types.DeploymentLifecycleHook {
	hooks := []types.DeploymentLifecycleHook{} // not nil: a service that had some loses them
	if len(in.PauseStages) > 0 {
		pause := types.DeploymentLifecycleHook{TargetType: types.DeploymentLifecycleHookTargetTypePause, LifecycleStages: stagesOf(in.PauseStages)}
		if in.PauseMinutes > 0 {
			pause.TimeoutConfiguration = &types.DeploymentLifecycleHookTimeoutConfiguration{
				TimeoutInMinutes: &in.PauseMinutes, Action: types.DeploymentLifecycleHookAction(in.PauseAction),
			}
		}
		hooks = append(hooks, pause)
	}
	for _, h := range in.Hooks {
		hooks = append(hooks, types.DeploymentLifecycleHook{
			TargetType: types.DeploymentLifecycleHookTargetTypeAwsLambda, HookTargetArn: &h.FunctionARN, RoleArn: &h.RoleARN, LifecycleStages: stagesOf(h.Stages),
		})
	}
	return hooks
}

func stagesOf(names []string) (stages []types.DeploymentLifecycleHookStage) {
	for _, name := range names {
		stages = append(stages, types.DeploymentLifecycleHookStage(name))
	}
	return stages
}
