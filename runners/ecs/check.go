package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// balancing is how ARNs of Elastic Load Balancing begin.
const balancing = `^arn:[a-z0-9-]+:elasticloadbalancing:[a-z0-9-]+:[0-9]+:`

var (
	serviceName    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)
	clusterARN     = regexp.MustCompile(`^arn:[a-z0-9-]+:ecs:([a-z0-9-]+):[0-9]+:cluster/([A-Za-z0-9_-]+)$`)
	targetGroupARN = regexp.MustCompile(balancing + `targetgroup/[A-Za-z0-9-]{1,32}/[0-9a-f]+$`)
	// shiftedARN is by what ECS shifts traffic: a rule, or a listener that has no rules.
	shiftedARN = regexp.MustCompile(balancing + `(listener-rule/app|listener/net)/[^\s]+$`)
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
		c.checkCapacity(w)
		c.checkBalancer(w)
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
		c.need(w.Image != "", at("image"), "must be there, or the artifact must have the arn or the definition of a task "+
			"definition")
		c.need(
			w.Size.CPU > 0 && w.Size.Memory > 0, at("size"), "must have cpu and memory, found %d and %d", w.Size.CPU,
			w.Size.Memory,
		)
	}
	c.need(w.Count == nil || *w.Count >= 0, at("count"), "must not be negative, found %d", either(w.Count, 0))
	if w.AssignPublicIP != "" {
		c.oneOf(at("assign_public_ip"), string(w.AssignPublicIP), "ENABLED", "DISABLED")
	}
	c.oneOf(at("architecture"), w.Architecture, "X86_64", "ARM64")
}

// The most that a capacity provider strategy may have.
const (
	maxProviders = 20
	maxWeight    = 1000
	maxBase      = 100000
)

func (c *checker) checkCapacity(w *wanted) {
	if w.LaunchType != "" {
		c.oneOf(at("launch_type"), w.LaunchType, "FARGATE", "EC2")
		c.need(len(w.CapacityProviders) == 0, at("launch_type"),
			"must be left out with capacity_providers, found %q", w.LaunchType)
	}

	based, weights, fargate := 0, int32(0), 0
	seen := map[string]bool{}
	for i, p := range w.CapacityProviders {
		at := fmt.Sprintf("%s/%d", at("capacity_providers"), i)
		weight := p.weight()
		c.need(p.Provider != "", at+"/provider", "must be there")
		c.need(!seen[p.Provider], at+"/provider", "must be there once, found %q again", p.Provider)
		c.need(weight >= 0 && weight <= maxWeight, at+"/weight", "must be 0 to %d, found %d", maxWeight, weight)
		c.need(p.Base >= 0 && p.Base <= maxBase, at+"/base", "must be 0 to %d, found %d", maxBase, p.Base)
		seen[p.Provider] = true
		weights += weight
		if p.Base > 0 {
			based++
		}

		if p.isFargate() {
			fargate++
		}
	}

	all := at("capacity_providers")
	c.need(len(w.CapacityProviders) <= maxProviders, all,
		"must have at most %d, found %d", maxProviders, len(w.CapacityProviders))
	c.need(based <= 1, all, "must have one with a base at most, found %d", based)
	c.need(len(w.CapacityProviders) == 0 || weights > 0, all, "must have one whose weight is more than 0")
	c.need(fargate == 0 || fargate == len(w.CapacityProviders), all, "must have those of Fargate alone, or none of them")
}

// checkBalancer checks what is named of a load balancer: its shape, and that it is where the cluster is.
func (c *checker) checkBalancer(w *wanted) {
	cluster := regionOf(w.ClusterARN)
	for _, by := range []struct {
		id, arn string
		shape   *regexp.Regexp
		what    string
	}{
		{"target_group_arn", w.TargetGroupARN, targetGroupARN, "the ARN of a target group"},
		{"alternate_target_group_arn", w.AlternateTargetGroupARN, targetGroupARN, "the ARN of a target group"},
		{"listener_rule_arn", w.ListenerRuleARN, shiftedARN, shiftedBy},
		{"test_listener_rule_arn", w.TestListenerRuleARN, shiftedARN, shiftedBy},
	} {
		if by.arn == "" {
			continue
		}
		c.need(by.shape.MatchString(by.arn), at(by.id), "must be %s, found %q", by.what, by.arn)
		region := regionOf(by.arn)
		c.need(region == "" || cluster == "" || region == cluster, at(by.id),
			"must be in the region %s of the cluster, found %q", cluster, by.arn)
	}
}

const shiftedBy = "the ARN of a rule of an Application Load Balancer's listener, " +
	"or of a Network Load Balancer's listener"

// regionOf returns the region of an ARN, "" for none.
func regionOf(arn string) string {
	if parts := strings.Split(arn, ":"); len(parts) > 5 && parts[0] == "arn" {
		return parts[3]
	}
	return ""
}

// checkRegion returns an error if the settings of AWS lead to another region than that of the cluster, if its
// services are not to be seen.
func (in *input) checkRegion(region string) error {
	if cluster := regionOf(in.wants().ClusterARN); cluster != region {
		return fmt.Errorf("%s must be in the region %s of the runner, found %s: "+
			"set AWS_REGION=%s for the runner, or name another cluster",
			at("cluster_arn"), region, cluster, cluster)
	}
	return nil
}

// pauseStages are where a deployment can wait for somebody. While traffic shifts it cannot.
var pauseStages = []string{
	"PRE_SCALE_UP", "POST_SCALE_UP", "POST_TEST_TRAFFIC_SHIFT", "PRE_PRODUCTION_TRAFFIC_SHIFT",
	"POST_PRODUCTION_TRAFFIC_SHIFT",
}

func (c *checker) checkStrategy(w *wanted) {
	if w.Strategy != "" {
		c.oneOf(at("strategy"), w.Strategy, rolling, blueGreen, canary, linear)
	}
	for _, stage := range w.PauseStages {
		c.oneOf(at("pause_stages"), stage, pauseStages...)
	}
	c.oneOf(at("pause_action"), w.PauseAction, "ROLLBACK", "CONTINUE")
	c.need(w.TimeoutMinutes > 0, at("timeout_minutes"), "must be more than 0, found %d", w.TimeoutMinutes)
	c.need(
		w.Strategy != canary || w.CanaryPercent >= 1 && w.CanaryPercent <= 100, at("canary_percent"),
		"must be 1 to 100, found %d", w.CanaryPercent,
	)
	c.need(
		w.Strategy != linear || w.StepPercent >= 3 && w.StepPercent <= 100, at("step_percent"), "must be 3 to 100, found %d",
		w.StepPercent,
	)
}
