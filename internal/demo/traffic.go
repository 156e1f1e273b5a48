package demo

import (
	"fmt"

	"slipway/internal/pure/ecs"
)

// state is the cloud's view of the deployment now.
func (r *rollout) state(status, reason string) *ecs.ServiceDeploymentState {
	state := &ecs.ServiceDeploymentState{
		AcceptsNativeStandbyRevert: new(r.s.strategy == blue && r.stages[r.at].name == bakeTime && status == "IN_PROGRESS"),
		ObservedAt:                 r.moment(), ServiceDeploymentARN: &r.arn,
		Status: &status, LifecycleStage: &r.stages[r.at].name, Strategy: &r.s.strategy,
		SourceServiceRevisions: []ecs.ServiceRevision{},
	}

	if reason != "" {
		state.StatusReason = &reason
	}
	undone := status == "ROLLBACK_SUCCESSFUL" || status == "STOPPED"
	moved, wanted := r.moved, r.s.replicas
	if undone {
		moved, wanted = share{}, 0
	}
	// Tasks are whole, and the first is there as soon as there is any.
	running := int32((int64(wanted)*int64(moved.running) + 99) / 100)

	if r.s.strategy == rolling && wanted > 0 {
		moved.production = 100 * running / wanted // each task gets its part
	}
	target := revision(r.target, running, wanted, moved.test, moved.production)

	state.TargetServiceRevision = &target
	if r.s.live != "" {
		old := r.s.replicas
		if r.stages[r.at].name == cleanUp && !undone {
			old = 0
		} else if r.s.strategy == rolling {
			old -= running
		}
		state.SourceServiceRevisions = append(state.SourceServiceRevisions,
			revision(r.s.live, old, old, 100-moved.test, 100-moved.production))
	}

	return state
}

func revision(arn string, running, requested, test, production int32) ecs.ServiceRevision {
	return ecs.ServiceRevision{
		ServiceRevisionARN: &arn, RunningTaskCount: &running, RequestedTaskCount: &requested,
		PendingTaskCount:           new(requested - running),
		RequestedTestTrafficWeight: &test, RequestedProductionTrafficWeight: &production,
	}
}

// look captures the listeners of the service's load balancer, if it has one, while requests go to the
// target group of a color.
func (r *rollout) look(color int) {
	if r.s.balancer == "" {
		return
	}
	base := fmt.Sprintf("arn:aws:elasticloadbalancing:%s:%s:", r.s.region(), accountID)
	balancer := "app/" + r.s.balancer + "/50dc6c495c0c9188"
	group := r.s.Name + "-" + []string{"blue", "green"}[color]

	rules := []ecs.ListenerRule{
		{RulePriority: new(int32(10)), PathPatterns: []string{"/*"}},
		{RulePriority: new(int32(20)), PathPatterns: []string{"/api/*", "/healthz"}},
		{IsDefaultRule: new(true), HostHeaders: []string{}, PathPatterns: []string{}},
	}

	for i := range rules {
		rule := &rules[i]
		rule.Port, rule.Protocol = new(int32(443)), new("HTTPS")
		rule.ListenerARN = new(base + "listener/" + balancer + "/f2f7dc8efc522ab2")
		rule.RuleARN = new(fmt.Sprintf("%slistener-rule/%s/f2f7dc8efc522ab2/9683b2d02a6cabe%d", base, balancer, i))
		if rule.IsDefaultRule == nil {
			rule.IsDefaultRule, rule.HostHeaders = new(false), r.s.hosts()
			rule.TargetGroupName, rule.TargetGroupARN = &group, new(base+"targetgroup/"+group+"/73e2d6bc24d8a067")
		}
	}

	r.listeners = append(r.listeners, ecs.ListenerState{
		CapturedAt: r.moment(), LoadBalancerARN: new(base + "loadbalancer/" + balancer),
		LoadBalancerDNSName: new(r.s.balancer + "-1043826557." + r.s.region() + ".elb.example"),
		Rules:               rules,
	})
}
