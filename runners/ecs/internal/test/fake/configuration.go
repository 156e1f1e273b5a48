package fake

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// checkConfiguration refuses how a service is not to be deployed.
func checkConfiguration(s *types.Service) error {
	c := s.DeploymentConfiguration
	if c == nil {
		return nil
	}

	strategy := c.Strategy
	if strategy == "" {
		strategy = types.DeploymentStrategyRolling
	}

	switch {
	case !slices.Contains(strategy.Values(), strategy):
		return invalid("The deployment strategy is not valid, found %s.", strategy)
	case outside(c.MinimumHealthyPercent, 0, 100):
		return invalid("minimumHealthyPercent must be 0 to 100.")
	case c.MaximumPercent != nil && *c.MaximumPercent < 100:
		return invalid("maximumPercent must be 100 or more.")
	case c.CanaryConfiguration != nil && strategy != types.DeploymentStrategyCanary:
		return invalid("canaryConfiguration is only valid for the deployment strategy CANARY, found %s.", strategy)
	case c.LinearConfiguration != nil && strategy != types.DeploymentStrategyLinear:
		return invalid("linearConfiguration is only valid for the deployment strategy LINEAR, found %s.", strategy)
	case strategy == types.DeploymentStrategyBlueGreen && c.BakeTimeInMinutes == nil:
		return invalid("bakeTimeInMinutes must be provided for the deployment strategy BLUE_GREEN.")
	case outside(c.BakeTimeInMinutes, 0, 1440):
		return invalid("bakeTimeInMinutes must be 0 to 1440.")
	case deref(c.DeploymentCircuitBreaker).Enable && strategy != types.DeploymentStrategyRolling:
		return invalid("The deployment circuit breaker can only be used for rolling updates, found %s.", strategy)
	case c.EarlySuccessCriteria != nil && strategy != types.DeploymentStrategyRolling:
		return invalid("earlySuccessCriteria are for rolling deployments, found %s.", strategy)
	case c.Alarms != nil && c.Alarms.Enable && len(c.Alarms.AlarmNames) == 0:
		return invalid("Alarms need at least one name.")
	case strategy != types.DeploymentStrategyRolling && !shifts(s.LoadBalancers):
		return invalid("The deployment strategy %s needs a load balancer with an advanced configuration.", strategy)
	}

	if err := checkSteps(c); err != nil {
		return err
	}
	return checkHooks(c.LifecycleHooks)
}

func outside(value *int32, least, most int32) bool {
	return value != nil && (*value < least || *value > most)
}

// shifts reports whether traffic can be shifted by a load balancer.
func shifts(balancers []types.LoadBalancer) bool {
	return slices.ContainsFunc(balancers, func(b types.LoadBalancer) bool { return b.AdvancedConfiguration != nil })
}

func checkSteps(c *types.DeploymentConfiguration) error {
	if canary := c.CanaryConfiguration; canary != nil {
		percent := deref(canary.CanaryPercent)
		if canary.CanaryPercent != nil && (percent < 0.1 || percent > 100) ||
			outside(canary.CanaryBakeTimeInMinutes, 0, 1440) {
			return invalid("canaryPercent must be 0.1 to 100, and its bake time 0 to 1440 minutes.")
		}
	}
	if linear := c.LinearConfiguration; linear != nil {
		percent := deref(linear.StepPercent)
		if linear.StepPercent != nil && (percent < 3 || percent > 100) || outside(linear.StepBakeTimeInMinutes, 0, 1440) {
			return invalid("stepPercent must be 3 to 100, and its bake time 0 to 1440 minutes.")
		}
	}
	return nil
}

func checkHooks(hooks []types.DeploymentLifecycleHook) error {
	for _, h := range hooks {
		pause := h.TargetType == types.DeploymentLifecycleHookTargetTypePause
		switch {
		case len(h.LifecycleStages) == 0:
			return invalid("A lifecycle hook needs stages.")
		case !pause && (deref(h.HookTargetArn) == "" || deref(h.RoleArn) == ""):
			return invalid("A lifecycle hook AWS_LAMBDA needs hookTargetArn and roleArn.")
		}

		for _, stage := range h.LifecycleStages {
			if !slices.Contains(stage.Values(), stage) {
				return invalid("The lifecycle stage is not valid, found %s.", stage)
			}
			if pause && (stage == types.DeploymentLifecycleHookStageTestTrafficShift ||
				stage == types.DeploymentLifecycleHookStageProductionTrafficShift) {
				return invalid("A PAUSE hook cannot be configured at %s.", stage)
			}
		}
	}

	return nil
}
