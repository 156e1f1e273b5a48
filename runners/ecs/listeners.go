package main

import (
	"context"
	"slices"
	"strconv"

	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

type listenerState struct {
	CapturedAt          string         `json:"capturedAt"`
	LoadBalancerARN     string         `json:"loadBalancerArn"`
	LoadBalancerDNSName string         `json:"loadBalancerDnsName,omitempty"`
	Rules               []listenerRule `json:"rules"`
}

type listenerRule struct {
	IsDefaultRule   bool     `json:"isDefaultRule"`
	ListenerARN     string   `json:"listenerArn"`
	Port            int32    `json:"port,omitempty"`
	Protocol        string   `json:"protocol,omitempty"`
	RuleARN         string   `json:"ruleArn,omitempty"`
	TargetGroupARN  string   `json:"targetGroupArn"`
	HostHeaders     []string `json:"hostHeaders,omitempty"`
	PathPatterns    []string `json:"pathPatterns,omitempty"`
	RulePriority    int32    `json:"rulePriority,omitempty"`
	TargetGroupName string   `json:"targetGroupName,omitempty"`
}

// listenersBefore reports what the listeners do that lead to the service, before the service deployment begins.
func (w *worker) listenersBefore(ctx context.Context) error {
	states, err := w.captureListeners(ctx)
	if err == nil {
		w.print.update(func(d *data) { d.ELBListenerState = states })
	}
	return err
}

// listenersAfter reports what they do after it, beside what was reported before it, be it by an earlier program.
func (w *worker) listenersAfter(ctx context.Context) error {
	states, err := w.captureListeners(ctx)
	if err == nil {
		w.print.update(func(d *data) { d.ELBListenerState = append(firstOfEach(d.ELBListenerState), states...) })
	}
	return err
}

func (w *worker) captureListeners(ctx context.Context) (states []listenerState, err error) {
	arns := targetGroupsOf(w.plan.balancers)
	if len(arns) == 0 {
		return nil, nil
	}
	groups, balancers, err := w.targetGroups(ctx, arns)
	if err != nil {
		return nil, err
	}
	for _, arn := range balancers {
		s, err := w.listenersOf(ctx, arn, groups)
		if err != nil {
			return nil, err
		}
		states = append(states, *s)
	}
	return states, nil
}

// firstOfEach returns the first state of each load balancer, which is that from before the deployment.
func firstOfEach(states []listenerState) (first []listenerState) {
	for _, s := range states {
		if !slices.ContainsFunc(first, func(f listenerState) bool { return f.LoadBalancerARN == s.LoadBalancerARN }) {
			first = append(first, s)
		}
	}
	return first
}

// targetGroups returns target groups by their ARNs, and the load balancers that lead to them.
func (w *worker) targetGroups(
	ctx context.Context, arns []string,
) (groups map[string]elbtypes.TargetGroup, balancers []string, err error) {
	groups = map[string]elbtypes.TargetGroup{}
	err = eachPage("target groups", func(token *string) (*string, error) {
		page, err := w.elb.DescribeTargetGroups(ctx, &elb.DescribeTargetGroupsInput{TargetGroupArns: arns, Marker: token})
		if err != nil {
			return nil, err
		}
		for _, g := range page.TargetGroups {
			groups[text(g.TargetGroupArn)] = g
			for _, arn := range g.LoadBalancerArns {
				if !slices.Contains(balancers, arn) {
					balancers = append(balancers, arn)
				}
			}
		}
		return page.NextMarker, nil
	})
	return groups, balancers, err
}

func (w *worker) listenersOf(
	ctx context.Context, balancer string, groups map[string]elbtypes.TargetGroup,
) (*listenerState, error) {
	described, err := w.elb.DescribeLoadBalancers(
		ctx, &elb.DescribeLoadBalancersInput{LoadBalancerArns: []string{balancer}},
	)
	if err != nil {
		return nil, explain(err)
	}

	s := &listenerState{
		CapturedAt: stamp(timeOf(described.ResultMetadata)), LoadBalancerARN: balancer, Rules: []listenerRule{},
	}

	isApplication := false
	for _, b := range described.LoadBalancers {
		s.LoadBalancerDNSName, isApplication = text(b.DNSName), b.Type == elbtypes.LoadBalancerTypeEnumApplication
	}

	var listeners []elbtypes.Listener
	err = eachPage("listeners", func(token *string) (*string, error) {
		page, err := w.elb.DescribeListeners(ctx, &elb.DescribeListenersInput{LoadBalancerArn: &balancer, Marker: token})
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, page.Listeners...)
		return page.NextMarker, nil
	})
	if err != nil {
		return nil, err
	}

	for _, l := range listeners {
		// Those of a Network Load Balancer have no rules, but what they do by default.
		rules := []elbtypes.Rule{{IsDefault: new(true), Actions: l.DefaultActions}}
		if isApplication {
			if rules, err = w.rulesOf(ctx, l.ListenerArn); err != nil {
				return nil, err
			}
		}
		for _, r := range rules {
			s.Rules = append(s.Rules, shownRules(&l, &r, groups)...)
		}
	}

	return s, nil
}

func (w *worker) rulesOf(ctx context.Context, listener *string) (all []elbtypes.Rule, err error) {
	err = eachPage("listener rules", func(token *string) (*string, error) {
		page, err := w.elb.DescribeRules(ctx, &elb.DescribeRulesInput{ListenerArn: listener, Marker: token})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Rules...)
		return page.NextMarker, nil
	})
	return all, err
}

// shownRules returns a rule once for each target group of the service that it sends requests to.
func shownRules(l *elbtypes.Listener, r *elbtypes.Rule, groups map[string]elbtypes.TargetGroup) (shown []listenerRule) {
	for _, arn := range servedBy(r) {
		group, ours := groups[arn]
		if !ours {
			continue
		}

		rule := listenerRule{
			IsDefaultRule: r.IsDefault != nil && *r.IsDefault, ListenerARN: text(l.ListenerArn), Protocol: string(l.Protocol),
			RuleARN: text(r.RuleArn), TargetGroupARN: arn, TargetGroupName: text(group.TargetGroupName),
		}
		if l.Port != nil {
			rule.Port = *l.Port
		}
		if priority, err := strconv.ParseInt(text(r.Priority), 10, 32); err == nil { // that of a default rule is no number
			rule.RulePriority = int32(priority)
		}

		for _, c := range r.Conditions {
			if c.HostHeaderConfig != nil {
				rule.HostHeaders = append(rule.HostHeaders, c.HostHeaderConfig.Values...)
			}
			if c.PathPatternConfig != nil {
				rule.PathPatterns = append(rule.PathPatterns, c.PathPatternConfig.Values...)
			}
		}

		shown = append(shown, rule)
	}

	return shown
}

// servedBy returns the target groups that a rule sends requests to: those with a weight of more than 0.
func servedBy(r *elbtypes.Rule) (arns []string) {
	for _, action := range r.Actions {
		if action.ForwardConfig == nil {
			if action.TargetGroupArn != nil {
				arns = append(arns, *action.TargetGroupArn)
			}
			continue
		}
		for _, group := range action.ForwardConfig.TargetGroups {
			if group.Weight == nil || *group.Weight > 0 {
				arns = append(arns, text(group.TargetGroupArn))
			}
		}
	}
	return arns
}
