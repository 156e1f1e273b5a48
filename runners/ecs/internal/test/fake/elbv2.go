package fake

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// elbOperations are those of Elastic Load Balancing, by their names.
var elbOperations = map[string]func(*Cloud, url.Values) (any, error){
	"DescribeTargetGroups":  describeTargetGroups,
	"DescribeLoadBalancers": describeLoadBalancers,
	"DescribeListeners":     describeListeners,
	"DescribeRules":         describeRules,
}

// listed returns the members of a list of a form.
func listed(form url.Values, name string) (members []string) {
	for i := 1; form.Has(fmt.Sprintf("%s.member.%d", name, i)); i++ {
		members = append(members, form.Get(fmt.Sprintf("%s.member.%d", name, i)))
	}
	return members
}

// formPage is pageOf for a form.
func formPage[T any](c *Cloud, all []T, form url.Values) (page []T, next *string, err error) {
	var marker *string
	if form.Has("Marker") {
		marker = new(form.Get("Marker"))
	}
	size, _ := strconv.ParseInt(form.Get("PageSize"), 10, 32) // none is 0
	return pageOf(c, all, marker, int32(size))
}

func describeTargetGroups(c *Cloud, form url.Values) (any, error) {
	named := listed(form, "TargetGroupArns")
	if err := atMost(len(named), maxArns); err != nil {
		return nil, err
	}
	var all []types.TargetGroup
	for _, arn := range named {
		balancer, group := c.balancerOf(arn)
		if balancer == nil {
			return nil, refuse("TargetGroupNotFound", "One or more target groups not found")
		}
		all = append(
			all, types.TargetGroup{TargetGroupArn: &arn, TargetGroupName: &group, LoadBalancerArns: []string{balancer.arn}},
		)
	}
	page, next, err := formPage(c, all, form)
	return &elb.DescribeTargetGroupsOutput{TargetGroups: page, NextMarker: next}, err
}

func describeLoadBalancers(c *Cloud, form url.Values) (any, error) {
	named := listed(form, "LoadBalancerArns")
	if err := atMost(len(named), maxArns); err != nil {
		return nil, err
	}
	var all []types.LoadBalancer
	for _, arn := range named {
		b := c.balancer(arn)
		if b == nil {
			return nil, refuse("LoadBalancerNotFound", "One or more load balancers not found")
		}
		all = append(all, types.LoadBalancer{LoadBalancerArn: &b.arn, DNSName: &b.dnsName, Type: b.kind})
	}
	page, next, err := formPage(c, all, form)
	return &elb.DescribeLoadBalancersOutput{LoadBalancers: page, NextMarker: next}, err
}

func describeListeners(c *Cloud, form url.Values) (any, error) {
	b := c.balancer(form.Get("LoadBalancerArn"))
	if b == nil {
		return nil, refuse("LoadBalancerNotFound", "One or more load balancers not found")
	}
	var all []types.Listener
	for _, l := range b.listeners {
		all = append(all, types.Listener{
			ListenerArn: &l.arn, LoadBalancerArn: &b.arn, Port: &l.port, Protocol: l.protocol,
			DefaultActions: l.rules[len(l.rules)-1].actions(),
		})
	}
	page, next, err := formPage(c, all, form)
	return &elb.DescribeListenersOutput{Listeners: page, NextMarker: next}, err
}

func describeRules(c *Cloud, form url.Values) (any, error) {
	for _, b := range c.balancers {
		at := slices.IndexFunc(b.listeners, func(l *listener) bool { return l.arn == form.Get("ListenerArn") })
		if at < 0 {
			continue
		}
		if b.kind != types.LoadBalancerTypeEnumApplication { // a guess
			return nil, refuse("UnsupportedOperation", "Listeners of this load balancer have no rules")
		}

		var all []types.Rule
		for _, r := range b.listeners[at].rules {
			rule := types.Rule{RuleArn: &r.arn, IsDefault: &r.isDefault, Priority: new("default"), Actions: r.actions()}
			if !r.isDefault {
				rule.Priority = new(strconv.Itoa(int(r.priority)))
				rule.Conditions = []types.RuleCondition{
					{Field: new("host-header"), HostHeaderConfig: &types.HostHeaderConditionConfig{Values: r.hosts}},
					{Field: new("path-pattern"), PathPatternConfig: &types.PathPatternConditionConfig{Values: r.paths}},
				}
			}
			all = append(all, rule)
		}

		page, next, err := formPage(c, all, form)
		return &elb.DescribeRulesOutput{Rules: page, NextMarker: next}, err
	}

	return nil, refuse("ListenerNotFound", "One or more listeners not found")
}

// actions returns what a rule does. One that knows a single target group names that alone, as AWS does.
func (r *rule) actions() []types.Action {
	action := types.Action{Type: types.ActionTypeEnumForward}
	if len(r.groups) == 1 {
		action.TargetGroupArn = &r.groups[0].TargetGroup
		return []types.Action{action}
	}
	action.ForwardConfig = &types.ForwardActionConfig{}
	for _, g := range r.groups {
		action.ForwardConfig.TargetGroups = append(
			action.ForwardConfig.TargetGroups, types.TargetGroupTuple{TargetGroupArn: &g.TargetGroup, Weight: &g.Weight},
		)
	}
	return []types.Action{action}
}
