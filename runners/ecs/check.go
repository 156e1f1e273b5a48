package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	serviceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	clusterARN  = regexp.MustCompile(`^arn:[a-z0-9-]+:ecs:([a-z0-9-]+):[0-9]+:cluster/([A-Za-z0-9_-]+)$`)
	// shiftedARN is by what ECS shifts traffic: a rule, or a listener that has no rules.
	shiftedARN = regexp.MustCompile(`^arn:[a-z0-9-]+:elasticloadbalancing:[a-z0-9-]+:[0-9]+:(listener-rule/app|listener/net)/[^\s]+$`)
)

// check returns everything that is wrong with a deployment, a line each. It reads the task definition of the artifact.
func (in *input) check() error {
	c := &checker{}
	w := in.wants()
	c.need(in.Deployment.ID != "", "/deployment/id", "must be there")
	c.need(in.Deployment.ModuleInstanceID != "", "/deployment/moduleInstanceId", "must be there")
	c.need(in.Deployment.Fence.isNumber(), "/deployment/fence", "must be digits, found %q", string(in.Deployment.Fence))
	c.need(serviceName.MatchString(w.ServiceName), at("service_name"),
		"must be 1 to 255 letters, digits, hyphens and underscores, found %q", w.ServiceName)
	c.need(clusterARN.MatchString(w.ClusterARN), at("cluster_arn"), "must be the ARN of a cluster, found %q", w.ClusterARN)
	if !in.destroys() {
		if err := in.Release.Artifact.readDefinition(); err != nil {
			c.wrong = append(c.wrong, err)
		}
		c.checkTask(w, in.Release.Artifact)
		c.checkStrategy(w)
	}
	return errors.Join(c.wrong...)
}

type checker struct{ wrong []error }

// need notes what is wrong at a pointer unless it is ok.
func (c *checker) need(ok bool, pointer, message string, args ...any) {
	if !ok {
		c.wrong = append(c.wrong, fmt.Errorf(pointer+" "+message, args...))
	}
}

// oneOf notes a value that is none of those that are allowed.
func (c *checker) oneOf(pointer, value string, allowed ...string) {
	c.need(slices.Contains(allowed, value), pointer, "must be one of %s, found %q", strings.Join(allowed, ", "), value)
}

func at(id string) string { return "/release/inputs/" + id }

func (c *checker) checkTask(w *wanted, a artifact) {
	if a.decidesTaskDefinition() {
		c.need(w.Image == "", at("image"), "must be left out where the artifact has a task definition")
	} else {
		c.need(w.Image != "", at("image"), "must be there, or the artifact must have the arn or the definition of a task definition")
		c.need(w.Size.CPU > 0 && w.Size.Memory > 0, at("size"), "must have cpu and memory, found %d and %d", w.Size.CPU, w.Size.Memory)
	}
	c.need(w.Count >= 0, at("count"), "must not be negative, found %d", w.Count)
	c.oneOf(at("launch_type"), w.LaunchType, "FARGATE", "EC2")
	c.oneOf(at("architecture"), w.Architecture, "X86_64", "ARM64")
	c.need(w.LaunchType != "FARGATE" || len(w.SubnetIDs) > 0, at("subnet_ids"), "must have a subnet for tasks of FARGATE")
	c.need(w.TargetGroupARN == "" || w.ContainerPort > 0, at("container_port"), "must be there with a target group")
}

// pauseStages are where a deployment can wait for somebody. While traffic shifts it cannot.
var pauseStages = []string{
	"PRE_SCALE_UP", "POST_SCALE_UP", "POST_TEST_TRAFFIC_SHIFT", "PRE_PRODUCTION_TRAFFIC_SHIFT", "POST_PRODUCTION_TRAFFIC_SHIFT",
}

func (c *checker) checkStrategy(w *wanted) {
	c.oneOf(at("strategy"), w.Strategy, rolling, blueGreen, canary, linear)
	for _, stage := range w.PauseStages {
		c.oneOf(at("pause_stages"), stage, pauseStages...)
	}
	c.oneOf(at("pause_action"), w.PauseAction, "ROLLBACK", "CONTINUE")
	c.need(w.TimeoutMinutes > 0, at("timeout_minutes"), "must be more than 0, found %d", w.TimeoutMinutes)
	if w.Strategy == rolling {
		return
	}
	for _, needed := range []struct{ id, value string }{
		{"target_group_arn", w.TargetGroupARN}, {"alternate_target_group_arn", w.AlternateTargetGroupARN},
		{"listener_rule_arn", w.ListenerRuleARN}, {"balancer_role_arn", w.BalancerRoleARN},
	} {
		c.need(needed.value != "", at(needed.id), "must be there for the strategy %s", w.Strategy)
	}
	for _, by := range []struct{ id, arn string }{{"listener_rule_arn", w.ListenerRuleARN}, {"test_listener_rule_arn", w.TestListenerRuleARN}} {
		c.need(by.arn == "" || shiftedARN.MatchString(by.arn), at(by.id),
			"must be the ARN of a rule of an Application Load Balancer's listener, or of a Network Load Balancer's listener, found %q", by.arn)
	}
	c.need(w.Strategy != canary || w.CanaryPercent >= 1 && w.CanaryPercent <= 100, at("canary_percent"), "must be 1 to 100, found %d", w.CanaryPercent)
	c.need(w.Strategy != linear || w.StepPercent >= 3 && w.StepPercent <= 100, at("step_percent"), "must be 3 to 100, found %d", w.StepPercent)
}
