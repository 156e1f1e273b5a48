package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

// refusedAtFirst checks that a deployment or destroy was refused before anything was changed.
func refusedAtFirst(t *testing.T, w *world, e *ended, code int, want string) {
	t.Helper()
	if e.code != code || !strings.Contains(e.stderr, want) {
		t.Errorf("it ended with %d, want %d: %s, want %s", e.code, code, e.stderr, want)
	}
	for _, operation := range []string{"RegisterTaskDefinition", "TagResource", "UpdateService", "CreateService", "DeleteService", "DeregisterTaskDefinition"} {
		theirs := map[string]int{"RegisterTaskDefinition": 1, "CreateService": 1}[operation]
		if n := w.cloud.Calls(operation); n > theirs {
			t.Errorf("%s was sent %d times", operation, n)
		}
	}
}

func TestAServiceThatECSDoesNotDeployIsRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(in *ecs.CreateServiceInput){
		"has the deployment controller CODE_DEPLOY, and must have ECS: choose another service_name": func(in *ecs.CreateServiceInput) {
			in.DeploymentController = &types.DeploymentController{Type: types.DeploymentControllerTypeCodeDeploy}
		},
		"has the deployment controller EXTERNAL, and must have ECS: choose another service_name": func(in *ecs.CreateServiceInput) {
			in.DeploymentController = &types.DeploymentController{Type: types.DeploymentControllerTypeExternal}
			in.TaskDefinition, in.LoadBalancers, in.NetworkConfiguration, in.LaunchType, in.DeploymentConfiguration = nil, nil, nil, "", nil
		},
		"has the scheduling strategy DAEMON, and must have REPLICA: choose another service_name": func(in *ecs.CreateServiceInput) {
			in.SchedulingStrategy, in.DesiredCount, in.LaunchType = types.SchedulingStrategyDaemon, nil, types.LaunchTypeEc2
		},
	} {
		for _, action := range []string{"apply", "destroy"} {
			t.Run(fmt.Sprintf("%.45s/%s", want, action), func(t *testing.T) {
				t.Parallel()
				w := adopting(t, nil)
				w.theirs(change)
				refusedAtFirst(t, w, w.begin("dep_1", 1, action, nil).end(), 1, want)
			})
		}
	}
}

// In another region the service is not seen, so a destroy would leave it if it is.
func TestARegionThatIsNotThatOfTheClusterIsRefused(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"apply", "destroy"} {
		w := newWorld(t, nil)
		w.env = []string{"AWS_REGION=us-east-1"}
		refusedAtFirst(t, w, w.begin("dep_1", 1, action, nil).end(), 2,
			"/release/inputs/cluster_arn must be in the region us-east-1 of the runner, found eu-west-1: set AWS_REGION=eu-west-1 for the runner")
		if n := w.cloud.Calls("DescribeServices"); n != 0 {
			t.Errorf("AWS was asked %d times", n)
		}
	}
	w := newWorld(t, shifting("CANARY", map[string]any{"target_group_arn": strings.Replace(fake.BlueTargetGroup, "eu-west-1", "us-east-1", 1)}))
	refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, "/release/inputs/target_group_arn must be in the region eu-west-1 of the cluster, found ")
}

func TestRequestsThatNoContainerGetsAreRefused(t *testing.T) {
	t.Parallel()
	balanced := map[string]any{"target_group_arn": fake.BlueTargetGroup}
	for name, c := range map[string]struct {
		inputs     map[string]any
		definition map[string]any
		want       string
	}{
		"a container that is not there": {map[string]any{"container_name": "web"}, definitionOf(container(nil)),
			"/release/inputs/container_name must be a container of the task definition, which has app, found \"web\""},
		"a container that gets requests and is not there": {balanced, definitionOf(container(map[string]any{"name": "a"}), container(map[string]any{"name": "b"})),
			"/release/inputs/container_name must be a container of the task definition, which has a, b: requests of "},
		"a port that is not mapped": {balanced, definitionOf(container(map[string]any{"portMappings": []any{map[string]any{"containerPort": 80}}})),
			"/release/inputs/container_port must be a port of the container app: requests of " + fake.BlueTargetGroup + " go to 8080, which the task definition does not map"},
		"no port":   {map[string]any{"target_group_arn": fake.BlueTargetGroup, "container_port": 0}, definitionOf(container(nil)), "/release/inputs/container_port must be there with a target group"},
		"no subnet": {map[string]any{"subnet_ids": []string{}}, definitionOf(container(nil)), "/release/inputs/subnet_ids must have a subnet for the tasks"},
		"no listener": {map[string]any{"strategy": "CANARY", "canary_percent": 5}, definitionOf(container(nil)),
			"/release/inputs/listener_rule_arn must be there for the strategy CANARY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withDefinition(t, c.definition)
			for input, value := range c.inputs {
				w.inputs[input] = value
			}
			refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, c.want)
		})
	}
}

func TestAContainerThatIsNotInTheNamedTaskDefinitionIsRefused(t *testing.T) {
	t.Parallel()
	w := adopting(t, map[string]any{"container_name": "app"})
	w.theirs(func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.LifecycleHooks = nil })
	delete(w.inputs, "image")
	w.artifact = map[string]any{"arn": *w.cloud.TaskDefinitions()[0].TaskDefinitionArn, "revision": 1}
	refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, "/release/inputs/container_name must be a container of the task definition, which has main, found \"app\"")
}

func TestAServiceWithoutRoomForTagsIsRefused(t *testing.T) {
	t.Parallel()
	w := adopting(t, nil)
	w.theirs(func(in *ecs.CreateServiceInput) {
		in.DeploymentConfiguration.LifecycleHooks = nil
		for i := range 44 {
			in.Tags = append(in.Tags, types.Tag{Key: aws.String(fmt.Sprintf("tag-%d", i)), Value: aws.String("x")})
		}
	})
	refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, "at most 44 tags, because Slipway adds 6, found 45")
}
