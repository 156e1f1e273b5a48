package fake

import (
	"slices"
	"strings"

	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

const elbARN = "arn:aws:elasticloadbalancing:" + Region + ":" + Account + ":"

// What there is of load balancing: an Application Load Balancer with two listeners, one for production and one for
// tests, each with a rule that leads to one of two target groups, and a default rule that leads to somebody else's.
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

// And a Network Load Balancer, whose listeners have no rules: one for production, one for tests, and one of somebody
// else.
const (
	NetworkLoadBalancer     = elbARN + "loadbalancer/net/edge/1c2f3a4b5d6e7f80"
	NetworkListener         = elbARN + "listener/net/edge/1c2f3a4b5d6e7f80/a1b2c3d4e5f60718"
	NetworkTestListener     = elbARN + "listener/net/edge/1c2f3a4b5d6e7f80/b2c3d4e5f6071829"
	NetworkOtherListener    = elbARN + "listener/net/edge/1c2f3a4b5d6e7f80/c3d4e5f60718293a"
	NetworkBlueTargetGroup  = elbARN + "targetgroup/tcp-blue/7e1fdf942ffd0a1b"
	NetworkGreenTargetGroup = elbARN + "targetgroup/tcp-green/31ab955de12936b5"
	NetworkOtherTargetGroup = elbARN + "targetgroup/tcp-other/42bca66ef23a47c6"
	NetworkDNSName          = "edge-0987654321." + Region + ".elb.amazonaws.com"
)

type loadBalancer struct {
	arn, dnsName string
	kind         types.LoadBalancerTypeEnum
	listeners    []*listener
}

// listener is a listener with its rules, the default rule last. That of a Network Load Balancer has nothing else.
type listener struct {
	arn      string
	port     int32
	protocol types.ProtocolEnum
	rules    []*rule
}

type rule struct {
	arn          string
	isDefault    bool
	priority     int32
	hosts, paths []string
	groups       []Weight
}

// Weight is the part of the requests that a target group gets.
type Weight struct {
	TargetGroup string
	Weight      int32
}

func newBalancers() []*loadBalancer {
	ours := func(blue, green string) []Weight { return []Weight{{blue, 100}, {green, 0}} }
	front := func(arn, ruleARN string, port, priority int32) *listener {
		return &listener{arn, port, types.ProtocolEnumHttps, []*rule{
			{
				arn: ruleARN, priority: priority, hosts: []string{"web.example.com"}, paths: []string{"/api/*"},
				groups: ours(BlueTargetGroup, GreenTargetGroup),
			},
			{arn: ruleARN + "-default", isDefault: true, groups: []Weight{{OtherTargetGroup, 100}}},
		}}
	}

	edge := func(arn string, port int32, groups []Weight) *listener {
		return &listener{arn, port, types.ProtocolEnumTcp, []*rule{{isDefault: true, groups: groups}}}
	}
	return []*loadBalancer{
		{LoadBalancer, DNSName, types.LoadBalancerTypeEnumApplication, []*listener{
			front(Listener, Rule, 443, 10), front(TestListener, TestRule, 8443, 20),
		}},
		{NetworkLoadBalancer, NetworkDNSName, types.LoadBalancerTypeEnumNetwork, []*listener{
			edge(NetworkListener, 5432, ours(NetworkBlueTargetGroup, NetworkGreenTargetGroup)),
			edge(NetworkTestListener, 15432, ours(NetworkBlueTargetGroup, NetworkGreenTargetGroup)),
			edge(NetworkOtherListener, 6432, []Weight{{NetworkOtherTargetGroup, 100}}),
		}},
	}
}

func (c *Cloud) balancer(arn string) *loadBalancer {
	for _, b := range c.balancers {
		if b.arn == arn {
			return b
		}
	}
	return nil
}

// balancerOf returns the load balancer of a target group, nil for none, and the name of the group.
func (c *Cloud) balancerOf(group string) (b *loadBalancer, name string) {
	for _, b := range c.balancers {
		for _, l := range b.listeners {
			for _, r := range l.rules {
				if slices.ContainsFunc(r.groups, func(w Weight) bool { return w.TargetGroup == group }) {
					return b, strings.Split(group, "/")[1]
				}
			}
		}
	}
	return nil, ""
}

// ruleOf returns the rule that an ARN stands for: that of the rule, or of a listener that has no rules.
func (c *Cloud) ruleOf(arn string) *rule {
	for _, b := range c.balancers {
		for _, l := range b.listeners {
			for _, r := range l.rules {
				if r.arn == arn || r.arn == "" && l.arn == arn {
					return r
				}
			}
		}
	}
	return nil
}

// checkBalancers refuses load balancers by which ECS cannot shift traffic.
func (c *Cloud) checkBalancers(all []ecstypes.LoadBalancer) error {
	for _, b := range all {
		if b.LoadBalancerName != nil && b.TargetGroupArn != nil {
			return invalid("loadBalancerName and targetGroupArn cannot both be specified.")
		}
		if balancer, _ := c.balancerOf(deref(b.TargetGroupArn)); balancer == nil {
			return invalid(
				"The target group with targetGroupArn %s does not have an associated load balancer.", deref(b.TargetGroupArn),
			)
		}
		if err := c.checkShifting(&b); err != nil {
			return err
		}
	}
	return nil
}

// checkShifting refuses a load balancer whose rules do not lead to both of its target groups.
func (c *Cloud) checkShifting(b *ecstypes.LoadBalancer) error {
	advanced := b.AdvancedConfiguration
	if advanced == nil {
		return nil
	}
	if advanced.AlternateTargetGroupArn == nil || advanced.ProductionListenerRule == nil || advanced.RoleArn == nil {
		return invalid("An advanced configuration needs alternateTargetGroupArn, productionListenerRule and roleArn.")
	}

	for _, arn := range []*string{advanced.ProductionListenerRule, advanced.TestListenerRule} {
		if arn == nil {
			continue
		}
		r := c.ruleOf(*arn)
		for _, group := range []*string{b.TargetGroupArn, advanced.AlternateTargetGroupArn} {
			if r == nil || !slices.ContainsFunc(r.groups, func(w Weight) bool { return w.TargetGroup == deref(group) }) {
				return invalid("The listener rule %s does not lead to the target group %s.", *arn, deref(group))
			}
		}
	}

	return nil
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
func (s *service) route(group string, production, test float64) {
	for _, b := range s.described.LoadBalancers {
		if b.AdvancedConfiguration == nil {
			continue
		}
		s.cloud.weigh(deref(b.AdvancedConfiguration.ProductionListenerRule), group, int32(production))
		if rule := deref(b.AdvancedConfiguration.TestListenerRule); rule != "" {
			s.cloud.weigh(rule, group, int32(test))
		}
	}
}

func (c *Cloud) weigh(arn, group string, percent int32) {
	r := c.ruleOf(arn)
	for i, w := range r.groups {
		r.groups[i].Weight = 100 - percent
		if w.TargetGroup == group {
			r.groups[i].Weight = percent
		}
	}
}

// Route is what a rule of a listener does, or a listener without rules.
type Route struct {
	LoadBalancer, DNSName, Listener string
	Port                            int32
	Protocol                        string
	// Rule is "" for a listener without rules.
	Rule         string
	IsDefault    bool
	Priority     int32
	Hosts, Paths []string
	Groups       []Weight
}

func (c *Cloud) routes() (all []Route) {
	for _, b := range c.balancers {
		for _, l := range b.listeners {
			for _, r := range l.rules {
				all = append(all, Route{
					LoadBalancer: b.arn, DNSName: b.dnsName, Listener: l.arn, Port: l.port, Protocol: string(l.protocol), Rule: r.arn,
					IsDefault: r.isDefault, Priority: r.priority, Hosts: r.hosts, Paths: r.paths, Groups: slices.Clone(r.groups),
				})
			}
		}
	}
	return all
}
