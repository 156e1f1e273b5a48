package main

import (
	"context"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
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

// captureListeners reports what the rules of the listeners do that lead to the service, before the deployment and after it.
func (w *worker) captureListeners(ctx context.Context) error {
	in := w.wants()
	if in.TargetGroupARN == "" {
		return nil
	}
	groups := map[string]elbtypes.TargetGroup{}
	arns := []string{in.TargetGroupARN}
	if in.AlternateTargetGroupARN != "" {
		arns = append(arns, in.AlternateTargetGroupARN)
	}
	out, err := w.elb.DescribeTargetGroups(ctx, &elasticloadbalancingv2.DescribeTargetGroupsInput{TargetGroupArns: arns})
	if err != nil {
		return explain(err)
	}
	var balancers []string
	for _, g := range out.TargetGroups {
		groups[text(g.TargetGroupArn)] = g
		for _, arn := range g.LoadBalancerArns {
			if !slices.Contains(balancers, arn) {
				balancers = append(balancers, arn)
			}
		}
	}
	var states []listenerState
	for _, arn := range balancers {
		s, err := w.listenersOf(ctx, arn, groups)
		if err != nil {
			return err
		}
		states = append(states, *s)
	}
	w.print.update(func(d *data) {
		// The first states are those from before the deployment, also where an earlier program has seen them.
		before := d.ELBListenerState[:min(len(d.ELBListenerState), len(states))]
		d.ELBListenerState = append(slices.Clone(before), states...)
	})
	return nil
}

func (w *worker) listenersOf(ctx context.Context, balancer string, groups map[string]elbtypes.TargetGroup) (*listenerState, error) {
	described, err := w.elb.DescribeLoadBalancers(ctx, &elasticloadbalancingv2.DescribeLoadBalancersInput{LoadBalancerArns: []string{balancer}})
	if err != nil {
		return nil, explain(err)
	}
	s := &listenerState{CapturedAt: stamp(timeOf(described.ResultMetadata)), LoadBalancerARN: balancer, Rules: []listenerRule{}}
	isApplication := false
	for _, b := range described.LoadBalancers {
		s.LoadBalancerDNSName, isApplication = text(b.DNSName), b.Type == elbtypes.LoadBalancerTypeEnumApplication
	}
	listeners := elasticloadbalancingv2.NewDescribeListenersPaginator(w.elb, &elasticloadbalancingv2.DescribeListenersInput{LoadBalancerArn: &balancer})
	for pages := 0; listeners.HasMorePages() && pages < maxPages; pages++ {
		page, err := listeners.NextPage(ctx)
		if err != nil {
			return nil, explain(err)
		}
		for _, l := range page.Listeners {
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
	}
	return s, nil
}

func (w *worker) rulesOf(ctx context.Context, listener *string) (all []elbtypes.Rule, err error) {
	rules := elasticloadbalancingv2.NewDescribeRulesPaginator(w.elb, &elasticloadbalancingv2.DescribeRulesInput{ListenerArn: listener})
	for pages := 0; rules.HasMorePages() && pages < maxPages; pages++ {
		page, err := rules.NextPage(ctx)
		if err != nil {
			return nil, explain(err)
		}
		all = append(all, page.Rules...)
	}
	return all, nil
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
