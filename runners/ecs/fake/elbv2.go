package fake

import (
	"fmt"
	"net/url"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

const elbARN = "arn:aws:elasticloadbalancing:" + Region + ":" + Account + ":"

// What there is of load balancing: a load balancer with two listeners, one for production and one for tests, each with a rule
// that leads to one of two target groups; and the rule of somebody else.
const (
	LoadBalancer     = elbARN + "loadbalancer/app/front/50dc6c495c0c9188"
	Listener         = elbARN + "listener/app/front/50dc6c495c0c9188/f2f7dc8efc522ab2"
	TestListener     = elbARN + "listener/app/front/50dc6c495c0c9188/0467ef3c8400ae65"
	Rule             = elbARN + "listener-rule/app/front/50dc6c495c0c9188/f2f7dc8efc522ab2/9683b2d02a6cabee"
	TestRule         = elbARN + "listener-rule/app/front/50dc6c495c0c9188/0467ef3c8400ae65/1291d13826f405c3"
	BlueTargetGroup  = elbARN + "targetgroup/blue/6d0ecf831eec9f09"
	GreenTargetGroup = elbARN + "targetgroup/green/209a844cd01825a4"
	OtherTargetGroup = elbARN + "targetgroup/other/73e2d6bc24d8a067"
	DNSName          = "front-1234567890." + Region + ".elb.amazonaws.com"
)

// balancer has the weights of the two target groups, by rule.
type balancer struct{ blue map[string]int32 }

func newBalancer() *balancer {
	return &balancer{blue: map[string]int32{Rule: 100, TestRule: 100}}
}

// nextGroup returns the target group of the next revision: the one that the current one does not have.
func (s *service) nextGroup() string {
	if len(s.described.LoadBalancers) == 0 {
		return ""
	}
	b := s.described.LoadBalancers[0]
	if b.AdvancedConfiguration != nil && s.current != nil && s.current.group == deref(b.TargetGroupArn) {
		return deref(b.AdvancedConfiguration.AlternateTargetGroupArn)
	}
	return deref(b.TargetGroupArn)
}

// route gives a target group so many percent of production's requests and of the test's, and the other one the rest.
func (s *service) route(group string, production, test int32) {
	for _, b := range s.described.LoadBalancers {
		if b.AdvancedConfiguration == nil {
			continue
		}
		if group != BlueTargetGroup {
			production, test = 100-production, 100-test
		}
		s.cloud.balancer.blue[deref(b.AdvancedConfiguration.ProductionListenerRule)] = production
		if rule := deref(b.AdvancedConfiguration.TestListenerRule); rule != "" {
			s.cloud.balancer.blue[rule] = test
		}
	}
}

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

func describeTargetGroups(_ *Cloud, form url.Values) (any, error) {
	names := map[string]string{BlueTargetGroup: "blue", GreenTargetGroup: "green", OtherTargetGroup: "other"}
	out := &elb.DescribeTargetGroupsOutput{}
	for _, arn := range listed(form, "TargetGroupArns") {
		name, ok := names[arn]
		if !ok {
			return nil, refuse("TargetGroupNotFound", "One or more target groups not found")
		}
		out.TargetGroups = append(out.TargetGroups, types.TargetGroup{TargetGroupArn: &arn, TargetGroupName: &name, LoadBalancerArns: []string{LoadBalancer}})
	}
	return out, nil
}

func describeLoadBalancers(_ *Cloud, form url.Values) (any, error) {
	out := &elb.DescribeLoadBalancersOutput{}
	for _, arn := range listed(form, "LoadBalancerArns") {
		if arn != LoadBalancer {
			return nil, refuse("LoadBalancerNotFound", "One or more load balancers not found")
		}
		out.LoadBalancers = append(out.LoadBalancers, types.LoadBalancer{
			LoadBalancerArn: new(LoadBalancer), DNSName: new(DNSName), Type: types.LoadBalancerTypeEnumApplication,
		})
	}
	return out, nil
}

func describeListeners(_ *Cloud, form url.Values) (any, error) {
	if form.Get("LoadBalancerArn") != LoadBalancer {
		return nil, refuse("LoadBalancerNotFound", "One or more load balancers not found")
	}
	return &elb.DescribeListenersOutput{Listeners: []types.Listener{
		{ListenerArn: new(Listener), LoadBalancerArn: new(LoadBalancer), Port: new(int32(443)), Protocol: types.ProtocolEnumHttps},
		{ListenerArn: new(TestListener), LoadBalancerArn: new(LoadBalancer), Port: new(int32(8443)), Protocol: types.ProtocolEnumHttps},
	}}, nil
}

func describeRules(c *Cloud, form url.Values) (any, error) {
	arn := map[string]string{Listener: Rule, TestListener: TestRule}[form.Get("ListenerArn")]
	if arn == "" {
		return nil, refuse("ListenerNotFound", "One or more listeners not found")
	}
	blue := c.balancer.blue[arn]
	return &elb.DescribeRulesOutput{Rules: []types.Rule{
		{RuleArn: &arn, IsDefault: new(false), Priority: new("10"),
			Conditions: []types.RuleCondition{
				{Field: new("host-header"), HostHeaderConfig: &types.HostHeaderConditionConfig{Values: []string{"web.example.com"}}},
				{Field: new("path-pattern"), PathPatternConfig: &types.PathPatternConditionConfig{Values: []string{"/api/*"}}},
			},
			Actions: []types.Action{{Type: types.ActionTypeEnumForward, ForwardConfig: &types.ForwardActionConfig{TargetGroups: []types.TargetGroupTuple{
				{TargetGroupArn: new(BlueTargetGroup), Weight: &blue}, {TargetGroupArn: new(GreenTargetGroup), Weight: new(100 - blue)},
			}}}}},
		{RuleArn: new(arn + "-default"), IsDefault: new(true), Priority: new("default"),
			Actions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: new(OtherTargetGroup)}}},
	}}, nil
}
