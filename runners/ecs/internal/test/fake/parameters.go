package fake

import (
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
)

// What services and task definitions may be called, and what may be a client token.
var (
	resourceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	clientToken  = regexp.MustCompile(`^[[:graph:]]{0,36}$`)
)

// invalid returns the error of a parameter that AWS does not take.
func invalid(message string, args ...any) error {
	return refuse("InvalidParameterException", message, args...)
}

// checkCreate refuses what AWS does not take in a request to create a service, whatever there is.
func checkCreate(in *ecs.CreateServiceInput) error {
	daemon := in.SchedulingStrategy == types.SchedulingStrategyDaemon
	switch {
	case !resourceName.MatchString(deref(in.ServiceName)):
		return invalid("The service name is not valid, found %q.", deref(in.ServiceName))
	case !clientToken.MatchString(deref(in.ClientToken)):
		return invalid("The client token must have at most 36 ASCII characters.")
	case in.LaunchType != "" && len(in.CapacityProviderStrategy) > 0:
		return invalid("Specifying both a launch type and capacity provider strategy is not supported. Remove one and try " +
			"again.")
	case !daemon && in.DesiredCount == nil &&
		controllerOf(in.DeploymentController) != types.DeploymentControllerTypeExternal:
		return invalid("The desired count must be specified for the scheduling strategy REPLICA.")
	case daemon && in.DesiredCount != nil:
		return invalid("The desired count cannot be specified for the scheduling strategy DAEMON.")
	case in.EnableECSManagedTags && (in.PropagateTags == "" || in.PropagateTags == types.PropagateTagsNone):
		return invalid("ECS managed tags need propagateTags.")
	}

	if controllerOf(in.DeploymentController) == types.DeploymentControllerTypeExternal {
		for name, given := range map[string]bool{
			"taskDefinition": in.TaskDefinition != nil, "loadBalancers": len(in.LoadBalancers) > 0,
			"launchType":               in.LaunchType != "",
			"networkConfiguration":     in.NetworkConfiguration != nil,
			"capacityProviderStrategy": len(in.CapacityProviderStrategy) > 0,
		} {
			if given {
				return invalid("%s cannot be specified with the deployment controller EXTERNAL.", name)
			}
		}
	}

	return checkTags(in.Tags)
}

func controllerOf(c *types.DeploymentController) types.DeploymentControllerType {
	if c == nil {
		return types.DeploymentControllerTypeEcs
	}
	return c.Type
}

// always are what can be updated whatever the deployment controller is.
var always = []string{
	"desiredCount", "healthCheckGracePeriodSeconds", "placementConstraints", "placementStrategy", "enableECSManagedTags",
	"propagateTags",
}

// checkUpdate refuses what AWS does not take in a request to update a service.
func checkUpdate(s *types.Service, in *ecs.UpdateServiceInput) error {
	daemon := s.SchedulingStrategy == types.SchedulingStrategyDaemon
	if daemon && in.DesiredCount != nil {
		return invalid("The desired count cannot be updated for the scheduling strategy DAEMON.")
	}
	if daemon && in.VolumeConfigurations != nil {
		return invalid("Volume configurations cannot be updated for the scheduling strategy DAEMON.")
	}

	controller := controllerOf(s.DeploymentController)
	if controller == types.DeploymentControllerTypeEcs {
		return nil
	}

	for name, given := range map[string]bool{
		"taskDefinition": in.TaskDefinition != nil, "networkConfiguration": in.NetworkConfiguration != nil,
		"loadBalancers": in.LoadBalancers != nil, "platformVersion": in.PlatformVersion != nil,
		"capacityProviderStrategy": in.CapacityProviderStrategy != nil, "serviceRegistries": in.ServiceRegistries != nil,
		"serviceConnectConfiguration": in.ServiceConnectConfiguration != nil,
		"volumeConfigurations":        in.VolumeConfigurations != nil,
		"forceNewDeployment":          in.ForceNewDeployment,
		"deploymentConfiguration": in.DeploymentConfiguration != nil &&
			controller == types.DeploymentControllerTypeExternal,
	} {
		if given {
			return invalid(
				"Unable to update %s on services with a %s deployment controller. Only %q can be updated.", name, controller,
				always,
			)
		}
	}

	return nil
}

// checkService refuses a service that cannot be. The task definition is nil for one that has none.
func (c *Cloud) checkService(s *types.Service, d *definition) error {
	daemon := s.SchedulingStrategy == types.SchedulingStrategyDaemon
	controller := controllerOf(s.DeploymentController)
	switch {
	case s.DesiredCount < 0:
		return invalid("The desired count cannot be negative.")
	case daemon && s.LaunchType == types.LaunchTypeFargate:
		return invalid("The scheduling strategy DAEMON is not supported for the launch type FARGATE.")
	case daemon && controller != types.DeploymentControllerTypeEcs:
		return invalid("The scheduling strategy DAEMON is not supported by the deployment controller %s.", controller)
	case controller == types.DeploymentControllerTypeCodeDeploy && len(s.LoadBalancers) == 0:
		return invalid("The deployment controller CODE_DEPLOY needs a load balancer.")
	case deref(s.HealthCheckGracePeriodSeconds) < 0:
		return invalid("The health check grace period cannot be negative.")
	}

	if err := checkCapacity(s.CapacityProviderStrategy); err != nil {
		return err
	}
	if err := checkConfiguration(s); err != nil {
		return err
	}
	if err := c.checkBalancers(s.LoadBalancers); err != nil || d == nil {
		return err
	}
	if err := checkNetwork(s.NetworkConfiguration, d.NetworkMode); err != nil {
		return err
	}
	if s.LaunchType == types.LaunchTypeFargate &&
		!slices.Contains(d.RequiresCompatibilities, types.CompatibilityFargate) &&
		d.NetworkMode != types.NetworkModeAwsvpc {
		return invalid("Task definition does not support launch_type FARGATE.")
	}
	return checkContainers(s.LoadBalancers, d)
}

// The most subnets and security groups of a service.
const (
	maxSubnets        = 16
	maxSecurityGroups = 5
)

func checkNetwork(n *types.NetworkConfiguration, mode types.NetworkMode) error {
	if mode != types.NetworkModeAwsvpc {
		if n != nil {
			return invalid("Network Configuration is not valid for the given networkMode of this task definition.")
		}
		return nil
	}
	if n == nil || n.AwsvpcConfiguration == nil {
		return invalid("Network Configuration must be provided when networkMode 'awsvpc' is specified.")
	}
	if subnets := n.AwsvpcConfiguration.Subnets; len(subnets) == 0 || len(subnets) > maxSubnets {
		return invalid("There must be 1 to %d subnets, found %d.", maxSubnets, len(subnets))
	}
	if groups := n.AwsvpcConfiguration.SecurityGroups; len(groups) > maxSecurityGroups {
		return invalid("There can be at most %d security groups, found %d.", maxSecurityGroups, len(groups))
	}
	return nil
}

// checkContainers refuses load balancers that lead to a container or a port that the task definition does not have.
func checkContainers(balancers []types.LoadBalancer, d *definition) error {
	for _, b := range balancers {
		at := slices.IndexFunc(
			d.ContainerDefinitions, func(c types.ContainerDefinition) bool { return deref(c.Name) == deref(b.ContainerName) },
		)
		if at < 0 {
			return invalid("The container %s does not exist in the task definition.", deref(b.ContainerName))
		}
		if !slices.ContainsFunc(d.ContainerDefinitions[at].PortMappings, func(p types.PortMapping) bool {
			return deref(p.ContainerPort) == deref(b.ContainerPort)
		}) {
			return invalid(
				"The container %s did not have a container port %d defined.", deref(b.ContainerName), deref(b.ContainerPort),
			)
		}
	}
	return nil
}
