package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"slipway-ecs/internal/test/fake"
)

// theirs creates the service "web" as somebody else has it, and a task definition for it whose container is called "main".
func (w *world) theirs(change func(in *ecs.CreateServiceInput)) {
	w.t.Helper()
	client := clientOf(w.t, w)
	_, err := client.RegisterTaskDefinition(w.t.Context(), &ecs.RegisterTaskDefinitionInput{
		Family: aws.String("theirs"), NetworkMode: types.NetworkModeAwsvpc, Cpu: aws.String("256"), Memory: aws.String("512"),
		RequiresCompatibilities: []types.Compatibility{types.CompatibilityFargate},
		ContainerDefinitions: []types.ContainerDefinition{{
			Name: aws.String("main"), Image: aws.String("theirs:1"), PortMappings: []types.PortMapping{{ContainerPort: aws.Int32(80)}},
		}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	in := &ecs.CreateServiceInput{
		ServiceName: aws.String("web"), Cluster: aws.String(fake.Cluster), TaskDefinition: aws.String("theirs"), DesiredCount: aws.Int32(7),
		LaunchType: types.LaunchTypeFargate, HealthCheckGracePeriodSeconds: aws.Int32(90),
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("web")}},
		LoadBalancers: []types.LoadBalancer{
			{TargetGroupArn: aws.String(fake.BlueTargetGroup), ContainerName: aws.String("main"), ContainerPort: aws.Int32(80)},
			{TargetGroupArn: aws.String(fake.OtherTargetGroup), ContainerName: aws.String("main"), ContainerPort: aws.Int32(80)},
		},
		NetworkConfiguration: &types.NetworkConfiguration{AwsvpcConfiguration: &types.AwsVpcConfiguration{
			Subnets: []string{"subnet-8", "subnet-9"}, SecurityGroups: []string{"sg-9"}, AssignPublicIp: types.AssignPublicIpEnabled,
		}},
		DeploymentConfiguration: &types.DeploymentConfiguration{
			Strategy: types.DeploymentStrategyRolling, MinimumHealthyPercent: aws.Int32(50), MaximumPercent: aws.Int32(150),
			Alarms:                   &types.DeploymentAlarms{AlarmNames: []string{"errors"}, Enable: true, Rollback: true},
			DeploymentCircuitBreaker: &types.DeploymentCircuitBreaker{Enable: true, Rollback: true},
			LifecycleHooks: []types.DeploymentLifecycleHook{{
				TargetType:      types.DeploymentLifecycleHookTargetTypePause,
				LifecycleStages: []types.DeploymentLifecycleHookStage{types.DeploymentLifecycleHookStagePreScaleUp},
			}},
		},
	}
	if change != nil {
		change(in)
	}
	if _, err := client.CreateService(w.t.Context(), in); err != nil {
		w.t.Fatal(err)
	}
	for range 1000 {
		if deployments := w.cloud.Deployments(); len(deployments) == 0 || deployments[0].FinishedAt != nil {
			return
		}
		if _, err := client.DescribeServiceDeployments(w.t.Context(), &ecs.DescribeServiceDeploymentsInput{
			ServiceDeploymentArns: []string{*w.cloud.Deployments()[0].ServiceDeploymentArn},
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.t.Fatal("their service deployment does not end")
}

// adopting returns a world with inputs that name as little as can be, in which a service of somebody else is to be taken over.
func adopting(t *testing.T, more map[string]any) *world {
	t.Helper()
	w := newWorld(t, more)
	for _, input := range []string{"count", "container_port", "subnet_ids"} {
		if _, named := more[input]; !named {
			delete(w.inputs, input)
		}
	}
	w.inputs["adopt"] = true
	return w
}

// settingsOf are what a service has beside its task definition and tags.
func settingsOf(t *testing.T, w *world) map[string]any {
	t.Helper()
	s := w.cloud.Services()[0]
	text, err := json.Marshal(map[string]any{
		"count": s.DesiredCount, "launchType": s.LaunchType, "capacity": s.CapacityProviderStrategy, "grace": s.HealthCheckGracePeriodSeconds,
		"balancers": s.LoadBalancers, "network": s.NetworkConfiguration, "deployment": s.DeploymentConfiguration, "propagate": s.PropagateTags,
	})
	var settings map[string]any
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

func TestAServiceThatIsTakenOverKeepsWhatTheInputsDoNotName(t *testing.T) {
	t.Parallel()
	shifts := func(strategy types.DeploymentStrategy) func(in *ecs.CreateServiceInput) {
		return func(in *ecs.CreateServiceInput) {
			in.LoadBalancers[0].AdvancedConfiguration = &types.AdvancedConfiguration{
				AlternateTargetGroupArn: aws.String(fake.GreenTargetGroup), ProductionListenerRule: aws.String(fake.Rule),
				TestListenerRule: aws.String(fake.TestRule), RoleArn: aws.String("arn:aws:iam::123456789012:role/r"),
			}
			in.LoadBalancers = in.LoadBalancers[:1]
			in.DeploymentConfiguration.Strategy, in.DeploymentConfiguration.BakeTimeInMinutes = strategy, aws.Int32(1)
			in.DeploymentConfiguration.DeploymentCircuitBreaker, in.DeploymentConfiguration.LifecycleHooks = nil, []types.DeploymentLifecycleHook{}
		}
	}
	for name, change := range map[string]func(in *ecs.CreateServiceInput){
		"rolling":    func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.LifecycleHooks = nil },
		"blue/green": shifts(types.DeploymentStrategyBlueGreen),
		"canary":     shifts(types.DeploymentStrategyCanary),
		"capacity providers": func(in *ecs.CreateServiceInput) {
			in.LaunchType = ""
			in.CapacityProviderStrategy = []types.CapacityProviderStrategyItem{
				{CapacityProvider: aws.String("FARGATE"), Base: 1, Weight: 1}, {CapacityProvider: aws.String("FARGATE_SPOT"), Weight: 3},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := adopting(t, nil)
			w.theirs(change)
			before := settingsOf(t, w)
			e := w.mustDeploy("dep_1", 1)
			w.inputs["image"] = "web:2" // as little is named later on
			w.mustDeploy("dep_2", 2)
			after := settingsOf(t, w)
			for name := range before {
				same := fmt.Sprint(after[name]) == fmt.Sprint(before[name]) || name == "deployment" && sameButNothing(before[name], after[name])
				if got, want := after[name], before[name]; !same {
					t.Errorf("%s was %v, and is %v", name, want, got)
				}
			}
			if !e.said("Taking over the service changes its task definition from arn:aws:ecs:eu-west-1:123456789012:task-definition/theirs:1 to ") {
				t.Errorf("it said %v", e.events)
			}
			if n := len(slices.DeleteFunc(slices.Clone(e.events), func(event map[string]any) bool {
				return !strings.HasPrefix(fmt.Sprint(event["message"]), "Taking over")
			})); n != 1 {
				t.Errorf("it said of %d changes: %v", n, e.events)
			}
		})
	}
}

// sameButNothing compares what may be absent or empty.
func sameButNothing(before, after any) bool {
	a, b := before.(map[string]any), after.(map[string]any)
	for _, side := range []map[string]any{a, b} {
		for name, value := range side {
			if list, ok := value.([]any); value == nil || ok && len(list) == 0 {
				delete(side, name)
			}
		}
	}
	return reflect.DeepEqual(a, b)
}

func TestWhatTakingOverChangesIsSaid(t *testing.T) {
	t.Parallel()
	w := adopting(t, map[string]any{
		"count": 2, "subnet_ids": []string{"subnet-1"}, "security_group_ids": []string{"sg-1"}, "assign_public_ip": false, "grace_seconds": 30,
		"minimum_healthy_percent": 100, "target_group_arn": fake.BlueTargetGroup, "container_port": 8080, "container_name": "app",
		"capacity_providers": []any{map[string]any{"provider": "FARGATE_SPOT"}},
	})
	w.theirs(func(in *ecs.CreateServiceInput) {
		in.LoadBalancers, in.DeploymentConfiguration.DeploymentCircuitBreaker = nil, nil
	})
	e := w.mustDeploy("dep_1", 1)
	for _, want := range []string{
		`subnets from ["subnet-8","subnet-9"] to ["subnet-1"].`, `securityGroups from ["sg-9"] to ["sg-1"].`, `assignPublicIp from "ENABLED" to "DISABLED".`,
		`healthCheckGracePeriodSeconds from 90 to 30.`, `minimumHealthyPercent from 50 to 100.`, `loadBalancers from nothing to [{`,
		`capacityProviderStrategy from nothing to [{"base":0,"capacityProvider":"FARGATE_SPOT","weight":1}].`,
		`deploymentCircuitBreaker from nothing to {"enable":true,"rollback":true}.`,
	} {
		if !e.said("Taking over the service changes " + want) {
			t.Errorf("it did not say %s, but %v", want, e.events)
		}
	}
	if !e.said("The service keeps its desired count of 7, which Slipway has not set. The input count is 2; it is set once it names another number.") || counted(w) != "7 of 2" {
		t.Errorf("the desired count is %s; it said %v", counted(w), e.events)
	}
	w.inputs["image"] = "web:2"
	if e := w.mustDeploy("dep_2", 2); e.said("Taking over") || e.said("The service keeps") {
		t.Errorf("it said it again: %v", e.events)
	}
	w.count(3)
	w.mustDeploy("dep_3", 3)
	if counted(w) != "3 of 3" {
		t.Errorf("the desired count is %s", counted(w))
	}
}

func TestATargetGroupThatWasTheOtherOneChangesPlacesWithIt(t *testing.T) {
	t.Parallel()
	w := adopting(t, map[string]any{"target_group_arn": fake.BlueTargetGroup})
	w.theirs(func(in *ecs.CreateServiceInput) {
		in.LoadBalancers = in.LoadBalancers[:1]
		in.LoadBalancers[0].TargetGroupArn = aws.String(fake.GreenTargetGroup)
		in.LoadBalancers[0].AdvancedConfiguration = &types.AdvancedConfiguration{
			AlternateTargetGroupArn: aws.String(fake.BlueTargetGroup), ProductionListenerRule: aws.String(fake.Rule),
			RoleArn: aws.String("arn:aws:iam::123456789012:role/r"),
		}
		in.DeploymentConfiguration = &types.DeploymentConfiguration{
			Strategy: types.DeploymentStrategyBlueGreen, BakeTimeInMinutes: aws.Int32(1),
		}
	})
	w.mustDeploy("dep_1", 1)
	b := w.cloud.Services()[0].LoadBalancers[0]
	if *b.TargetGroupArn != fake.BlueTargetGroup || *b.AdvancedConfiguration.AlternateTargetGroupArn != fake.GreenTargetGroup {
		t.Errorf("its target groups are %s and %s", *b.TargetGroupArn, *b.AdvancedConfiguration.AlternateTargetGroupArn)
	}
}

// What Slipway has set and what others have are in the same lists.
func TestOnlyWhatSlipwayHasSetIsRemovedWithItsInput(t *testing.T) {
	t.Parallel()
	w := adopting(t, map[string]any{
		"target_group_arn": fake.NetworkBlueTargetGroup, "container_port": 8080,
		"pause_stages": []string{"POST_SCALE_UP"},
		"hooks":        []any{map[string]any{"function_arn": "arn:aws:lambda:x", "role_arn": "arn:aws:iam::1:role/r", "stages": []string{"POST_SCALE_UP"}}},
	})
	w.theirs(func(in *ecs.CreateServiceInput) {
		in.DeploymentConfiguration.LifecycleHooks = nil
		in.LoadBalancers = in.LoadBalancers[1:]
	})
	w.artifact = map[string]any{"definition": map[string]any{
		"containerDefinitions": []any{map[string]any{"name": "main", "image": "web:1", "portMappings": []any{map[string]any{"containerPort": 80.0}, map[string]any{"containerPort": 8080.0}}}},
		"networkMode":          "awsvpc", "cpu": "256", "memory": "512", "requiresCompatibilities": []any{"FARGATE"},
	}}
	delete(w.inputs, "image")
	w.mustDeploy("dep_1", 1)
	groups := func() (all []string) {
		for _, b := range w.cloud.Services()[0].LoadBalancers {
			all = append(all, *b.TargetGroupArn)
		}
		return all
	}
	if got := groups(); !slices.Equal(got, []string{fake.OtherTargetGroup, fake.NetworkBlueTargetGroup}) || len(w.cloud.Services()[0].DeploymentConfiguration.LifecycleHooks) != 2 {
		t.Errorf("it has the target groups %v", got)
	}
	for _, input := range []string{"target_group_arn", "container_port", "pause_stages", "hooks"} {
		delete(w.inputs, input)
	}
	w.mustDeploy("dep_2", 2)
	if got := groups(); !slices.Equal(got, []string{fake.OtherTargetGroup}) {
		t.Errorf("it has the target groups %v", got)
	}
	if n := len(w.cloud.Services()[0].DeploymentConfiguration.LifecycleHooks); n != 0 {
		t.Errorf("%d hooks are left", n)
	}
}

func TestATakeoverThatWasKilledRemovesNothing(t *testing.T) {
	t.Parallel()
	for moment, when := range moments(updating, nil) {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := adopting(t, nil)
			w.theirs(func(in *ecs.CreateServiceInput) { in.DeploymentConfiguration.LifecycleHooks = nil })
			kill := &strike{signal: os.Kill, when: when}
			w.cloud.Intercept = kill.intercept
			if e := kill.begin(w, "dep_1", 1, "apply").end(); e.code != -1 {
				t.Fatalf("it ended with %d: %s", e.code, e.stderr)
			}
			w.mustDeploy("dep_1", 2)
			s := w.cloud.Services()[0]
			if len(s.LoadBalancers) != 2 || s.DeploymentConfiguration.Alarms == nil || s.DesiredCount != 7 || len(s.Tags) != 7 {
				t.Errorf("the service is %d tasks, %v, tags %v", s.DesiredCount, s.LoadBalancers, s.Tags)
			}
		})
	}
}

func TestWhetherTasksHaveAPublicAddressIsABooleanOrAWord(t *testing.T) {
	t.Parallel()
	for value, want := range map[any]string{true: "ENABLED", false: "DISABLED", "ENABLED": "ENABLED", "DISABLED": "DISABLED", "": "DISABLED"} {
		w := newWorld(t, map[string]any{"assign_public_ip": value})
		w.mustDeploy("dep_1", 1)
		if got := w.cloud.Services()[0].NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp; string(got) != want {
			t.Errorf("%v is %s", value, got)
		}
	}
	w := newWorld(t, map[string]any{"assign_public_ip": 1})
	refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, `/release/inputs/assign_public_ip must be a text, found number`)
	w = newWorld(t, map[string]any{"assign_public_ip": "yes"})
	refusedAtFirst(t, w, w.deploy("dep_1", 1), 2, `/release/inputs/assign_public_ip must be one of ENABLED, DISABLED, found "yes"`)
}
