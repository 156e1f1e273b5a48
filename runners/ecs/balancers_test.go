package main_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"slipway-ecs/internal/test/fake"
)

// network are the inputs of a strategy that moves the traffic of a Network Load Balancer.
func network(strategy string) map[string]any {
	inputs := shifting(strategy, nil)
	maps.Copy(inputs, map[string]any{
		"target_group_arn": fake.NetworkBlueTargetGroup, "alternate_target_group_arn": fake.NetworkGreenTargetGroup,
		"listener_rule_arn": fake.NetworkListener, "test_listener_rule_arn": fake.NetworkTestListener,
	})
	return inputs
}

// Each deployment is compared with the account as it is carried out: rules, weights and all.
func TestTrafficOfANetworkLoadBalancerIsMovedByItsListeners(t *testing.T) {
	t.Parallel()
	for strategy, shifts := range map[string]int{"ROLLING": 0, "BLUE_GREEN": 2, "CANARY": 3, "LINEAR": 4} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, network(strategy))
			w.cloud.Tick *= 12
			w.mustDeploy("dep_1", 1)
			w.inputs["image"] = "web:2"
			began := w.cloud.Clock.Now()
			e := w.mustDeploy("dep_2", 2)
			if strategy != "ROLLING" && (served(e, 0) != "tcp-blue tcp-blue" || served(e, 1) != "tcp-green tcp-green") {
				t.Errorf("the listeners led to %s, and then to %s", served(e, 0), served(e, 1))
			}
			if minutes := w.cloud.Clock.Now().Sub(began).Minutes(); minutes < float64(10*shifts) {
				t.Errorf("the traffic shifts %d times, and it took %g minutes", shifts, minutes)
			}
			if n := w.cloud.Calls("DescribeRules"); n != 0 {
				t.Errorf("the listeners were asked for rules %d times, and have none", n)
			}
			if e := w.destroy("dep_3", 3); e.code != 0 || len(w.cloud.Services())+len(w.cloud.TaskDefinitions()) != 0 {
				t.Errorf("destroyed, %d: %s; %d services are left", e.code, e.stderr, len(w.cloud.Services()))
			}
		})
	}
}

func TestAListenerOfANetworkLoadBalancerIsShownAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, network("BLUE_GREEN"))
	w.cloud.Tick *= 12
	state := w.mustDeploy("dep_1", 1).data["elbListenerState"].([]any)[0].(map[string]any)
	if state["loadBalancerArn"] != fake.NetworkLoadBalancer || state["loadBalancerDnsName"] != fake.NetworkDNSName {
		t.Errorf("the load balancer is %v", state)
	}
	want := map[string]any{
		"isDefaultRule": true, "listenerArn": fake.NetworkListener, "port": 5432.0, "protocol": "TCP",
		"targetGroupArn": fake.NetworkBlueTargetGroup, "targetGroupName": "tcp-blue",
	}
	if rules := state["rules"].([]any); len(rules) != 2 || fmt.Sprint(rules[0]) != fmt.Sprint(want) {
		t.Errorf("the rules are %v, want first %v", rules, want)
	}
}

func TestWhatCannotShiftTrafficIsRefusedBeforeAnythingIsChanged(t *testing.T) {
	t.Parallel()
	for _, arn := range []string{fake.Listener, fake.NetworkLoadBalancer, fake.BlueTargetGroup, "front"} {
		w := newWorld(t, shifting("CANARY", map[string]any{"listener_rule_arn": arn, "test_listener_rule_arn": arn}))
		e := w.deploy("dep_1", 1)
		for _, input := range []string{"listener_rule_arn", "test_listener_rule_arn"} {
			want := fmt.Sprintf("/release/inputs/%s must be the ARN of a rule of an Application Load Balancer's listener, or of a Network Load Balancer's listener, found %q", input, arn)
			if e.code != 2 || !strings.Contains(e.stderr, want) {
				t.Errorf("%s: it ended with %d: %s", arn, e.code, e.stderr)
			}
		}
		if w.cloud.Calls("RegisterTaskDefinition") != 0 {
			t.Errorf("%s: a task definition was registered", arn)
		}
	}
}
