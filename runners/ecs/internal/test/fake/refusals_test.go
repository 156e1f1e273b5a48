package fake_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/aws/smithy-go"

	"slipway-ecs/internal/test/fake"
)

// account is an account with a service "web" and a task definition "web:1", and a client of a region.
type account struct {
	*ecs.Client
	cloud *fake.Cloud
}

func newAccount(t *testing.T) *account {
	t.Helper()
	cloud := fake.New()
	t.Cleanup(cloud.Close)
	a := &account{clientIn(cloud, fake.Region), cloud}
	for _, make := range []func() error{
		func() error { _, err := a.RegisterTaskDefinition(t.Context(), newDefinition()); return err },
		func() error { _, err := a.CreateService(t.Context(), newService("web")); return err },
	} {
		if err := make(); err != nil {
			t.Fatalf("what AWS takes was refused: %v", err)
		}
	}
	return a
}

func clientIn(cloud *fake.Cloud, region string) *ecs.Client {
	return ecs.New(ecs.Options{
		BaseEndpoint: &cloud.URL, Region: region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIAOTHER", SecretAccessKey: "other"}, nil
		}),
	})
}

func newDefinition() *ecs.RegisterTaskDefinitionInput {
	return &ecs.RegisterTaskDefinitionInput{
		Family: aws.String("web"), NetworkMode: types.NetworkModeAwsvpc, Cpu: aws.String("256"), Memory: aws.String("512"),
		RequiresCompatibilities: []types.Compatibility{types.CompatibilityFargate},
		ContainerDefinitions: []types.ContainerDefinition{{
			Name: aws.String("app"), Image: aws.String("web:1"), PortMappings: []types.PortMapping{{ContainerPort: aws.Int32(8080)}},
		}},
	}
}

func newService(name string) *ecs.CreateServiceInput {
	return &ecs.CreateServiceInput{
		ServiceName: &name, Cluster: aws.String(fake.Cluster), TaskDefinition: aws.String("web:1"), DesiredCount: aws.Int32(2),
		LaunchType: types.LaunchTypeFargate, LoadBalancers: []types.LoadBalancer{blueGreen()},
		NetworkConfiguration: &types.NetworkConfiguration{AwsvpcConfiguration: &types.AwsVpcConfiguration{Subnets: []string{"subnet-1"}}},
		DeploymentConfiguration: &types.DeploymentConfiguration{
			Strategy: types.DeploymentStrategyBlueGreen, BakeTimeInMinutes: aws.Int32(1),
		},
	}
}

func blueGreen() types.LoadBalancer {
	return types.LoadBalancer{
		TargetGroupArn: aws.String(fake.BlueTargetGroup), ContainerName: aws.String("app"), ContainerPort: aws.Int32(8080),
		AdvancedConfiguration: &types.AdvancedConfiguration{
			AlternateTargetGroupArn: aws.String(fake.GreenTargetGroup), ProductionListenerRule: aws.String(fake.Rule),
			RoleArn: aws.String("arn:aws:iam::123456789012:role/ecs"),
		},
	}
}

// refused checks that a request was refused with a code, and for a reason.
func refused(t *testing.T, err error, code, reason string) {
	t.Helper()
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || api.ErrorCode() != code || !strings.Contains(api.ErrorMessage(), reason) {
		t.Errorf("the answer is %v, want %s: …%s…", err, code, reason)
	}
}

func tags(n int) (all []types.Tag) {
	for i := range n {
		all = append(all, types.Tag{Key: aws.String(fmt.Sprintf("tag-%d", i)), Value: aws.String("x")})
	}
	return all
}

func TestAServiceThatECSDoesNotTakeIsNotCreated(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(in *ecs.CreateServiceInput){
		"service name is not valid":     func(in *ecs.CreateServiceInput) { in.ServiceName = aws.String("a b") },
		"client token":                  func(in *ecs.CreateServiceInput) { in.ClientToken = aws.String(strings.Repeat("x", 37)) },
		"desired count must be":         func(in *ecs.CreateServiceInput) { in.DesiredCount = nil },
		"count cannot be negative":      func(in *ecs.CreateServiceInput) { in.DesiredCount = aws.Int32(-1) },
		"grace period":                  func(in *ecs.CreateServiceInput) { in.HealthCheckGracePeriodSeconds = aws.Int32(-1) },
		"ECS managed tags need":         func(in *ecs.CreateServiceInput) { in.EnableECSManagedTags = true },
		"at most 50 tags":               func(in *ecs.CreateServiceInput) { in.Tags = tags(51) },
		"Duplicate tag keys":            func(in *ecs.CreateServiceInput) { in.Tags = append(tags(1), tags(1)...) },
		"desired count cannot be spec":  func(in *ecs.CreateServiceInput) { in.SchedulingStrategy = types.SchedulingStrategyDaemon },
		"Network Configuration must be": func(in *ecs.CreateServiceInput) { in.NetworkConfiguration = nil },
		"1 to 16 subnets":               func(in *ecs.CreateServiceInput) { in.NetworkConfiguration.AwsvpcConfiguration.Subnets = []string{} },
		"at most 5 security groups": func(in *ecs.CreateServiceInput) {
			in.NetworkConfiguration.AwsvpcConfiguration.SecurityGroups = make([]string, 6)
		},
		"DAEMON is not supported for the launch type": func(in *ecs.CreateServiceInput) {
			in.SchedulingStrategy, in.DesiredCount = types.SchedulingStrategyDaemon, nil
		},
		"DAEMON is not supported by the deployment controller": func(in *ecs.CreateServiceInput) {
			in.SchedulingStrategy, in.DesiredCount, in.LaunchType = types.SchedulingStrategyDaemon, nil, types.LaunchTypeEc2
			in.DeploymentController = &types.DeploymentController{Type: types.DeploymentControllerTypeCodeDeploy}
		},
		"CODE_DEPLOY needs a load balancer": func(in *ecs.CreateServiceInput) {
			in.DeploymentController = &types.DeploymentController{Type: types.DeploymentControllerTypeCodeDeploy}
			in.LoadBalancers = nil
		},
		"the deployment controller EXTERNAL": func(in *ecs.CreateServiceInput) {
			in.DeploymentController = &types.DeploymentController{Type: types.DeploymentControllerTypeExternal}
		},
		"both a launch type and capacity provider": func(in *ecs.CreateServiceInput) {
			in.CapacityProviderStrategy = providers(provider("FARGATE", 1, 0))
		},
		"does not exist in the task": func(in *ecs.CreateServiceInput) { in.LoadBalancers[0].ContainerName = aws.String("other") },
		"container port 9 defined":   func(in *ecs.CreateServiceInput) { in.LoadBalancers[0].ContainerPort = aws.Int32(9) },
		"associated load balancer": func(in *ecs.CreateServiceInput) {
			in.LoadBalancers[0].TargetGroupArn = aws.String(fake.BlueTargetGroup + "0")
		},
		"cannot both be specified": func(in *ecs.CreateServiceInput) { in.LoadBalancers[0].LoadBalancerName = aws.String("front") },
		"does not lead to the target group": func(in *ecs.CreateServiceInput) {
			in.LoadBalancers[0].AdvancedConfiguration.AlternateTargetGroupArn = aws.String(fake.OtherTargetGroup)
		},
		"needs alternateTargetGroupArn": func(in *ecs.CreateServiceInput) { in.LoadBalancers[0].AdvancedConfiguration.RoleArn = nil },
		"with an advanced":              func(in *ecs.CreateServiceInput) { in.LoadBalancers[0].AdvancedConfiguration = nil },
		"strategy is not valid":         func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.Strategy = "SLOW" },
		"bakeTimeInMinutes must be pro": func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.BakeTimeInMinutes = nil },
		"bakeTimeInMinutes must be 0":   func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.BakeTimeInMinutes = aws.Int32(1441) },
		"minimumHealthyPercent":         func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.MinimumHealthyPercent = aws.Int32(101) },
		"maximumPercent":                func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.MaximumPercent = aws.Int32(99) },
		"canaryConfiguration is only": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.CanaryConfiguration = &types.CanaryConfiguration{}
		},
		"linearConfiguration is only": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.LinearConfiguration = &types.LinearConfiguration{}
		},
		"canaryPercent must be": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.Strategy = types.DeploymentStrategyCanary
			in.DeploymentConfiguration.CanaryConfiguration = &types.CanaryConfiguration{CanaryPercent: aws.Float64(0)}
		},
		"stepPercent must be": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.Strategy = types.DeploymentStrategyLinear
			in.DeploymentConfiguration.LinearConfiguration = &types.LinearConfiguration{StepPercent: aws.Float64(2)}
		},
		"circuit breaker": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.DeploymentCircuitBreaker = &types.DeploymentCircuitBreaker{Enable: true}
		},
		"earlySuccessCriteria": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.EarlySuccessCriteria = &types.DeploymentEarlySuccessCriteria{}
		},
		"at least one name": func(in *ecs.CreateServiceInput) {
			in.DeploymentConfiguration.Alarms = &types.DeploymentAlarms{Enable: true, AlarmNames: []string{}}
		},
		"needs stages": hook(types.DeploymentLifecycleHook{TargetType: types.DeploymentLifecycleHookTargetTypePause}),
		"needs hookTargetArn": hook(types.DeploymentLifecycleHook{
			LifecycleStages: []types.DeploymentLifecycleHookStage{types.DeploymentLifecycleHookStagePreScaleUp},
		}),
		"cannot be configured at": hook(types.DeploymentLifecycleHook{
			TargetType:      types.DeploymentLifecycleHookTargetTypePause,
			LifecycleStages: []types.DeploymentLifecycleHookStage{types.DeploymentLifecycleHookStageTestTrafficShift},
		}),
		"stage is not valid": hook(types.DeploymentLifecycleHook{
			TargetType: types.DeploymentLifecycleHookTargetTypePause, LifecycleStages: []types.DeploymentLifecycleHookStage{"SCALE_UP"},
		}),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			in := newService("other")
			change(in)
			_, err := a.CreateService(t.Context(), in)
			refused(t, err, "InvalidParameterException", reason)
			if n := len(a.cloud.Services()); n != 1 {
				t.Errorf("there are %d services", n)
			}
		})
	}
}

func hook(h types.DeploymentLifecycleHook) func(in *ecs.CreateServiceInput) {
	return func(in *ecs.CreateServiceInput) {
		in.DeploymentConfiguration.LifecycleHooks = []types.DeploymentLifecycleHook{h}
	}
}

// controlled creates a service with another deployment controller or scheduling strategy.
func (a *account) controlled(t *testing.T, controller types.DeploymentControllerType, scheduling types.SchedulingStrategy) {
	t.Helper()
	in := newService("special")
	in.DeploymentController, in.SchedulingStrategy = &types.DeploymentController{Type: controller}, scheduling
	switch {
	case controller == types.DeploymentControllerTypeExternal:
		in.TaskDefinition, in.LoadBalancers, in.NetworkConfiguration, in.LaunchType, in.DeploymentConfiguration = nil, nil, nil, "", nil
	case scheduling == types.SchedulingStrategyDaemon:
		in.DesiredCount, in.LaunchType = nil, types.LaunchTypeEc2
	}
	if _, err := a.CreateService(t.Context(), in); err != nil {
		t.Fatalf("what ECS takes was refused: %v", err)
	}
}

func TestAServiceIsUpdatedOnlyByWhatItsControllerAllows(t *testing.T) {
	t.Parallel()
	const codeDeploy, external = types.DeploymentControllerTypeCodeDeploy, types.DeploymentControllerTypeExternal
	for _, c := range []struct {
		name       string
		controller types.DeploymentControllerType
		scheduling types.SchedulingStrategy
		in         ecs.UpdateServiceInput
		reason     string
	}{
		{"count", codeDeploy, "", ecs.UpdateServiceInput{DesiredCount: aws.Int32(3)}, ""},
		{"definition", codeDeploy, "", ecs.UpdateServiceInput{TaskDefinition: aws.String("web:1")}, "Unable to update taskDefinition"},
		{"balancers", codeDeploy, "", ecs.UpdateServiceInput{LoadBalancers: []types.LoadBalancer{}}, "Unable to update loadBalancers"},
		{"network", codeDeploy, "", ecs.UpdateServiceInput{NetworkConfiguration: &types.NetworkConfiguration{}}, "Unable to update network"},
		{"force", codeDeploy, "", ecs.UpdateServiceInput{ForceNewDeployment: true}, "Unable to update forceNewDeployment"},
		{"capacity", codeDeploy, "", ecs.UpdateServiceInput{CapacityProviderStrategy: []types.CapacityProviderStrategyItem{}}, "Unable to update capacity"},
		{"count", external, "", ecs.UpdateServiceInput{DesiredCount: aws.Int32(3)}, ""},
		{"definition", external, "", ecs.UpdateServiceInput{TaskDefinition: aws.String("web:1")}, "Unable to update taskDefinition"},
		{"configuration", external, "", ecs.UpdateServiceInput{DeploymentConfiguration: &types.DeploymentConfiguration{}}, "Unable to update deployment"},
		{"count", types.DeploymentControllerTypeEcs, types.SchedulingStrategyDaemon, ecs.UpdateServiceInput{DesiredCount: aws.Int32(3)}, "desired count cannot be updated"},
		{"definition", types.DeploymentControllerTypeEcs, types.SchedulingStrategyDaemon, ecs.UpdateServiceInput{TaskDefinition: aws.String("web:1")}, ""},
		{"volumes", types.DeploymentControllerTypeEcs, types.SchedulingStrategyDaemon,
			ecs.UpdateServiceInput{VolumeConfigurations: []types.ServiceVolumeConfiguration{}}, "Volume configurations"},
	} {
		t.Run(fmt.Sprintf("%s%s/%s", c.controller, c.scheduling, c.name), func(t *testing.T) {
			t.Parallel()
			a := newAccount(t)
			a.controlled(t, c.controller, c.scheduling)
			in := c.in
			in.Service, in.Cluster = aws.String("special"), aws.String(fake.Cluster)
			_, err := a.UpdateService(t.Context(), &in)
			if c.reason != "" {
				refused(t, err, "InvalidParameterException", c.reason)
			} else if err != nil {
				t.Errorf("what ECS takes was refused: %v", err)
			}
		})
	}
}

func TestAnInactiveTaskDefinitionIsNotDeployedAnew(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	if _, err := a.DeregisterTaskDefinition(t.Context(), &ecs.DeregisterTaskDefinitionInput{TaskDefinition: aws.String("web:1")}); err != nil {
		t.Fatal(err)
	}
	_, err := a.CreateService(t.Context(), newService("other"))
	refused(t, err, "ClientException", "TaskDefinition is inactive")
	_, err = a.UpdateService(t.Context(), &ecs.UpdateServiceInput{Service: aws.String("web"), TaskDefinition: aws.String("web:1")})
	refused(t, err, "ClientException", "TaskDefinition is inactive")
	if _, err = a.UpdateService(t.Context(), &ecs.UpdateServiceInput{Service: aws.String("web"), DesiredCount: aws.Int32(3)}); err != nil {
		t.Errorf("a service that runs it cannot be scaled: %v", err)
	}
	_, err = a.DeregisterTaskDefinition(t.Context(), &ecs.DeregisterTaskDefinitionInput{TaskDefinition: aws.String("web")})
	refused(t, err, "ClientException", "Please specify revision")
}

func TestWhatIsInAnotherRegionIsRefused(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	elsewhere := clientIn(a.cloud, "us-east-1")
	_, err := elsewhere.DescribeServices(t.Context(), &ecs.DescribeServicesInput{Cluster: aws.String(fake.Cluster), Services: []string{"web"}})
	refused(t, err, "InvalidParameterException", "Unexpected region eu-west-1, expected us-east-1")
	in := newService("other")
	in.LoadBalancers[0].TargetGroupArn = aws.String(strings.Replace(fake.BlueTargetGroup, fake.Region, "us-east-1", 1))
	_, err = a.CreateService(t.Context(), in)
	refused(t, err, "InvalidParameterException", "Unexpected region us-east-1, expected eu-west-1")
}

func TestAServiceThatWasJustCreatedIsNotSeenAtOnce(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.cloud.Unseen = 2
	in := newService("late")
	in.LoadBalancers, in.DeploymentConfiguration = nil, nil
	if _, err := a.CreateService(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	describe := func() *ecs.DescribeServicesOutput {
		out, err := a.DescribeServices(t.Context(), &ecs.DescribeServicesInput{Cluster: aws.String(fake.Cluster), Services: []string{"late"}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := describe(); len(out.Services) != 0 || aws.ToString(out.Failures[0].Reason) != "MISSING" {
		t.Errorf("it is seen: %v", out)
	}
	_, err := a.ListServiceDeployments(t.Context(), &ecs.ListServiceDeploymentsInput{Service: aws.String("late")})
	refused(t, err, "ServiceNotFoundException", "")
	if out := describe(); len(out.Services) != 1 {
		t.Errorf("it is not seen: %v", out)
	}
}
