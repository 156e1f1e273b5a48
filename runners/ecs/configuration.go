package main

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// network returns in which subnets the tasks run, nil if their network is not their own.
func (in *wanted) network(live *types.Service, mode types.NetworkMode) *types.NetworkConfiguration {
	if mode != types.NetworkModeAwsvpc {
		return nil
	}
	own := types.AwsVpcConfiguration{AssignPublicIp: types.AssignPublicIpDisabled}
	if live.NetworkConfiguration != nil && live.NetworkConfiguration.AwsvpcConfiguration != nil {
		own = *live.NetworkConfiguration.AwsvpcConfiguration
	}
	if len(in.SubnetIDs) > 0 {
		own.Subnets = in.SubnetIDs
	}
	if len(in.SecurityGroupIDs) > 0 {
		own.SecurityGroups = in.SecurityGroupIDs
	}
	if in.AssignPublicIP != "" {
		own.AssignPublicIp = types.AssignPublicIp(in.AssignPublicIP)
	}
	return &types.NetworkConfiguration{AwsvpcConfiguration: &own}
}

// strategy returns how the service is deployed.
func (in *wanted) strategy(live *types.Service) types.DeploymentStrategy {
	switch c := live.DeploymentConfiguration; {
	case in.Strategy != "":
		return types.DeploymentStrategy(in.Strategy)
	case c != nil && c.Strategy != "":
		return c.Strategy
	default:
		return types.DeploymentStrategyRolling
	}
}

// deploymentConfiguration returns how the service is deployed in full.
func (in *wanted) deploymentConfiguration(live *types.Service, before sets) *types.DeploymentConfiguration {
	c := types.DeploymentConfiguration{}
	if live.DeploymentConfiguration != nil {
		c = *live.DeploymentConfiguration
	}
	c.Strategy = in.strategy(live)
	c.LifecycleHooks = in.lifecycleHooks(c.LifecycleHooks, before)
	if in.MinimumHealthyPercent != nil {
		c.MinimumHealthyPercent = in.MinimumHealthyPercent
	}

	if in.MaximumPercent != nil {
		c.MaximumPercent = in.MaximumPercent
	}
	if in.Strategy != "" {
		in.setSteps(&c)
	}
	if c.Strategy != types.DeploymentStrategyRolling {
		c.DeploymentCircuitBreaker, c.EarlySuccessCriteria = nil, nil // they are for rolling deployments
		return &c
	}

	breaker := types.DeploymentCircuitBreaker{}
	if c.DeploymentCircuitBreaker != nil {
		breaker = *c.DeploymentCircuitBreaker
	}
	breaker.Enable, breaker.Rollback = true, true // otherwise one that fails has no end
	c.DeploymentCircuitBreaker = &breaker

	return &c
}

// setSteps sets how the traffic moves by the strategy of the inputs.
func (in *wanted) setSteps(c *types.DeploymentConfiguration) {
	c.CanaryConfiguration, c.LinearConfiguration, c.BakeTimeInMinutes = nil, nil, nil
	switch in.Strategy {
	case rolling:
		return
	case canary:
		c.CanaryConfiguration = &types.CanaryConfiguration{
			CanaryPercent: aws.Float64(float64(in.CanaryPercent)), CanaryBakeTimeInMinutes: &in.CanaryMinutes,
		}
	case linear:
		c.LinearConfiguration = &types.LinearConfiguration{
			StepPercent: aws.Float64(float64(in.StepPercent)), StepBakeTimeInMinutes: &in.StepMinutes,
		}
	}
	c.BakeTimeInMinutes = &in.BakeMinutes
}

// lifecycleHooks returns the hooks of the service, and in their place those that the inputs name. It is never nil.
func (in *wanted) lifecycleHooks(live []types.DeploymentLifecycleHook, before sets) []types.DeploymentLifecycleHook {
	isPause := func(h types.DeploymentLifecycleHook) bool {
		return h.TargetType == types.DeploymentLifecycleHookTargetTypePause
	}
	hooks := slices.Concat([]types.DeploymentLifecycleHook{}, live)
	if len(in.PauseStages) > 0 || before.has(setPauses) {
		hooks = slices.DeleteFunc(hooks, isPause)
	}
	if len(in.Hooks) > 0 || before.has(setHooks) {
		hooks = slices.DeleteFunc(hooks, func(h types.DeploymentLifecycleHook) bool { return !isPause(h) })
	}

	if len(in.PauseStages) > 0 {
		pause := types.DeploymentLifecycleHook{
			TargetType: types.DeploymentLifecycleHookTargetTypePause, LifecycleStages: stagesOf(in.PauseStages),
		}
		if in.PauseMinutes > 0 {
			pause.TimeoutConfiguration = &types.DeploymentLifecycleHookTimeoutConfiguration{
				TimeoutInMinutes: &in.PauseMinutes, Action: types.DeploymentLifecycleHookAction(in.PauseAction),
			}
		}
		hooks = append(hooks, pause)
	}

	for _, h := range in.Hooks {
		hooks = append(hooks, types.DeploymentLifecycleHook{
			TargetType: types.DeploymentLifecycleHookTargetTypeAwsLambda, HookTargetArn: &h.FunctionARN, RoleArn: &h.RoleARN,
			LifecycleStages: stagesOf(h.Stages),
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
