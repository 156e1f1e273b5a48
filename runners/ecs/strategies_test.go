package main_test

import (
	"fmt"
	"strings"
	"testing"

	"slipway-ecs/internal/test/fake"
)

func TestEachStrategyIsFollowedWithItsStagesAndWeights(t *testing.T) {
	t.Parallel()
	const rest = " PRE_SCALE_UP SCALE_UP POST_SCALE_UP TEST_TRAFFIC_SHIFT POST_TEST_TRAFFIC_SHIFT"
	const shift = " PRE_PRODUCTION_TRAFFIC_SHIFT PRODUCTION_TRAFFIC_SHIFT"
	const end = " POST_PRODUCTION_TRAFFIC_SHIFT BAKE_TIME CLEAN_UP"
	for strategy, want := range map[string]struct{ stages, weights string }{
		"BLUE_GREEN": {rest + shift + end, "<nil> 0 100"},
		"CANARY":     {rest + shift + shift + end, "<nil> 0 10 100"},
		"LINEAR":     {rest + shift + shift + shift + end, "<nil> 0 40 80 100"},
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shifting(strategy, nil))
			w.mustDeploy("dep_1", 1)
			w.inputs["image"] = "web:2"
			e := w.mustDeploy("dep_2", 2)
			if got := " " + strings.Join(e.values("lifecycleStage"), " "); got != want.stages && got != " <nil>"+want.stages {
				t.Errorf("its stages are%s, want%s", got, want.stages)
			}
			weights := strings.Join(e.values("targetServiceRevision", "requestedProductionTrafficWeight"), " ")
			if weights != want.weights && "<nil> "+weights != want.weights {
				t.Errorf("the new revision has %s, want %s", weights, want.weights)
			}
			if got := fmt.Sprint(e.values("strategy")); got != "["+strategy+"]" {
				t.Errorf("its strategy is %s", got)
			}
			if got := e.values("acceptsNativeStandbyRevert"); got[0] != "true" || got[len(got)-1] != "false" {
				t.Errorf("whether it can go back at once: %v", got)
			}
			before, after := served(e, 0), served(e, 1)
			if before != "blue blue" || after != "green green" {
				t.Errorf("the listeners led to %s, and then to %s", before, after)
			}
			last := e.events[len(e.events)-1]
			if last["currentStep"] != last["totalSteps"] || last["totalSteps"] != 14.0 {
				t.Errorf("the last step is %v", last)
			}
		})
	}
}

// served returns the target groups that the listeners lead to in one of the states that were seen.
func served(e *ended, state int) string {
	var groups []string
	for _, rule := range e.data["elbListenerState"].([]any)[state].(map[string]any)["rules"].([]any) {
		groups = append(groups, fmt.Sprint(rule.(map[string]any)["targetGroupName"]))
	}
	return strings.Join(groups, " ")
}

func TestListenersAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shifting("BLUE_GREEN", nil))
	e := w.mustDeploy("dep_1", 1)
	state := e.data["elbListenerState"].([]any)[0].(map[string]any)
	if state["loadBalancerArn"] != fake.LoadBalancer || state["loadBalancerDnsName"] != fake.DNSName || state["capturedAt"] == "" {
		t.Errorf("the load balancer is %v", state)
	}
	want := map[string]any{
		"isDefaultRule": false, "listenerArn": fake.Listener, "port": 443.0, "protocol": "HTTPS", "ruleArn": fake.Rule,
		"targetGroupArn": fake.BlueTargetGroup, "targetGroupName": "blue", "rulePriority": 10.0,
		"hostHeaders": []any{"web.example.com"}, "pathPatterns": []any{"/api/*"},
	}
	if got := state["rules"].([]any)[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the rule is %v, want %v", got, want)
	}
}

func TestARefusedTaskIsRolledBackByTheCircuitBreaker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	w.inputs["image"] = "web:broken"
	e := w.deploy("dep_2", 2)
	if e.code != 1 || !strings.Contains(e.stderr, "ended as ROLLBACK_SUCCESSFUL: ECS deployment circuit breaker: rolling back to deploymentId ecs-svc/") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
	if got := strings.Join(e.values("status"), " "); got != "IN_PROGRESS ROLLBACK_IN_PROGRESS ROLLBACK_SUCCESSFUL" {
		t.Errorf("its statuses are %s", got)
	}
	all := w.cloud.Deployments()
	if e.data["revertServiceDeploymentArn"] != *all[0].ServiceDeploymentArn || e.data["revertRequestedAt"] == nil || e.outputs != nil ||
		!strings.Contains(e.stderr, fmt.Sprint(e.data["revertExternalDeploymentId"])) {
		t.Errorf("it goes back to %v %v, outputs %v", e.data["revertServiceDeploymentArn"], e.data["revertExternalDeploymentId"], e.outputs)
	}
}

func TestTheFirstDeploymentThatFailsHasNothingToGoBackTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{"image": "web:broken"})
	e := w.deploy("dep_1", 1)
	if e.code != 1 || !strings.Contains(e.stderr, "ended as STOPPED: ECS deployment circuit breaker: tasks failed to start.") {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
}

func TestWhatHasNotBegunIsSaidToBePending(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shifting("CANARY", nil))
	w.cloud.Held = true
	looks := 0
	w.cloud.Intercept = func(c fake.Call) fake.Verdict {
		if c.Operation == "DescribeServiceDeployments" && c.Done {
			if looks++; looks == 2 {
				w.cloud.Held = false
			}
		}
		return fake.Verdict{}
	}
	if e := w.mustDeploy("dep_1", 1); !e.said("The service deployment is PENDING.") || e.said("ECS replaces the tasks.") || e.states[0]["status"] != "PENDING" {
		t.Errorf("it said %v", e.events)
	}
}

func TestALaunchTypeThatECSCannotChangeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	w.inputs["launch_type"] = "EC2"
	e := w.deploy("dep_2", 2)
	if e.code != 2 || !strings.Contains(e.stderr, "/release/inputs/launch_type must be FARGATE as it is for the service "+*w.cloud.Services()[0].ServiceArn) {
		t.Errorf("it ended with %d: %s", e.code, e.stderr)
	}
	if w.cloud.Calls("RegisterTaskDefinition") != 1 || w.cloud.Calls("UpdateService") != 0 {
		t.Error("something was changed")
	}
}

func TestOfTwoFailuresTheSecondGoesBackBehindTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.mustDeploy("dep_1", 1)
	for n, id := range []string{"dep_2", "dep_3"} {
		w.inputs["image"] = "web:broken-" + id
		e := w.deploy(id, 2+n)
		if e.code != 1 || e.data["revertServiceDeploymentArn"] != *w.cloud.Deployments()[0].ServiceDeploymentArn {
			t.Errorf("%s ended with %d: %s; it goes back to %v", id, e.code, e.stderr, e.data["revertServiceDeploymentArn"])
		}
	}
}

func TestAServiceChangesBetweenStrategies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]any{"target_group_arn": fake.BlueTargetGroup})
	w.mustDeploy("dep_1", 1)
	for n, inputs := range []map[string]any{shifting("BLUE_GREEN", nil), shifting("LINEAR", nil), {"strategy": "ROLLING"}} {
		for name, value := range inputs {
			w.inputs[name] = value
		}
		id := fmt.Sprintf("dep_%d", n+2)
		w.inputs["image"] = "web:" + id
		w.mustDeploy(id, n+2)
		c := w.cloud.Services()[0].DeploymentConfiguration
		rolling := inputs["strategy"] == "ROLLING"
		if string(c.Strategy) != inputs["strategy"] || (c.DeploymentCircuitBreaker != nil) != rolling {
			t.Errorf("it is deployed by %s, with the circuit breaker %v", c.Strategy, c.DeploymentCircuitBreaker)
		}
	}
}

func TestANewServiceBehindALoadBalancerHasAMinuteOfGrace(t *testing.T) {
	t.Parallel()
	for named, want := range map[any]int32{nil: 60, 0: 0, 30: 30} {
		w := newWorld(t, map[string]any{"target_group_arn": fake.BlueTargetGroup, "grace_seconds": named})
		w.mustDeploy("dep_1", 1)
		w.inputs["image"] = "web:2"
		w.mustDeploy("dep_2", 2)
		if got := w.cloud.Services()[0].HealthCheckGracePeriodSeconds; got == nil || *got != want {
			t.Errorf("with %v it has %v, want %d", named, got, want)
		}
	}
}
